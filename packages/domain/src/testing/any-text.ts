import fc from 'fast-check'

/** Any text there can be, lone surrogates included; far sooner ready than fast-check's own unit for that. */
export function anyText(maxLength = 20): fc.Arbitrary<string> {
  return fc
    .array(fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff)), { maxLength })
    .map((codes) => String.fromCodePoint(...codes))
}
