const [BASE, T_MIN, T_MAX, SKEW, DAMP, FIRST_BIAS, FIRST_CODE] = [36, 1, 26, 38, 700, 72, 128]

/** The label as RFC 3492 writes it in ASCII, without the `xn--`. */
export function punycode(label: string): string {
  const codes = Array.from(label, (character) => character.codePointAt(0) ?? 0)
  const plain = codes.filter((code) => code < FIRST_CODE)
  let output = String.fromCodePoint(...plain) + (plain.length > 0 ? '-' : '')
  let handled = plain.length
  let code = FIRST_CODE
  let bias = FIRST_BIAS
  let delta = 0
  while (handled < codes.length) {
    const next = Math.min(...codes.filter((candidate) => candidate >= code))
    delta += (next - code) * (handled + 1)
    code = next
    for (const candidate of codes) {
      if (candidate < code) delta += 1
      if (candidate !== code) continue
      output += digitsOf(delta, bias)
      bias = adapted(delta, handled + 1, handled === plain.length)
      delta = 0
      handled += 1
    }
    delta += 1
    code += 1
  }
  return output
}

function digitsOf(delta: number, bias: number): string {
  let digits = ''
  let rest = delta
  for (let weight = BASE; ; weight += BASE) {
    const threshold = Math.min(T_MAX, Math.max(T_MIN, weight - bias))
    if (rest < threshold) return digits + digit(rest)
    digits += digit(threshold + ((rest - threshold) % (BASE - threshold)))
    rest = Math.floor((rest - threshold) / (BASE - threshold))
  }
}

/** a to z, then 0 to 9: as base 36 has them, the other way round. */
function digit(value: number): string {
  return value < 26 ? String.fromCharCode(0x61 + value) : String(value - 26)
}

function adapted(delta: number, handled: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2))
  rest += Math.floor(rest / handled)
  let weight = 0
  for (; rest > ((BASE - T_MIN) * T_MAX) >> 1; weight += BASE) rest = Math.floor(rest / (BASE - T_MIN))
  return weight + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW))
}
