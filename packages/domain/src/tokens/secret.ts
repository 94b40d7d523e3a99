import type { Needs } from '../ports.ts'

/** What API tokens and invitation codes begin with, so that a leaked one is recognised. */
export const TOKEN_PREFIX = 'sms_'
/** What invitation codes begin with, see `TOKEN_PREFIX`. */
export const INVITATION_PREFIX = 'smi_'
/** What kind of secret it is. */
export type SecretPrefix = typeof TOKEN_PREFIX | typeof INVITATION_PREFIX

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 43 characters of base 62 hold 256 bits. */
const BODY_LENGTH = 43
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(`^[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`)

/** A new secret: prefix, 43 random base-62 characters, and a checksum of 6. */
export function newSecret(ports: Needs<'randomBytes' | 'newSha256'>, prefix: SecretPrefix): string {
  let body = ''
  while (body.length < BODY_LENGTH) {
    for (const byte of ports.randomBytes(64)) {
      // 248 = 4 × 62: greater bytes are thrown away, or the first characters would come more often.
      if (byte < 248 && body.length < BODY_LENGTH) body += BASE62[byte % 62]
    }
  }
  return prefix + body + checksum(ports, prefix + body)
}

/** Whether `text` has the form of such a secret, checksum included: a typing error costs no look-up. */
export function isSecret(ports: Needs<'newSha256'>, prefix: SecretPrefix, text: string): boolean {
  if (!text.startsWith(prefix) || !SHAPE.test(text.slice(prefix.length))) return false
  const end = text.length - CHECKSUM_LENGTH
  return checksum(ports, text.slice(0, end)) === text.slice(end)
}

/** SHA-256 of the secret, in hexadecimal: all that is stored of it. */
export function hashSecret(ports: Needs<'newSha256'>, secret: string): string {
  const hash = ports.newSha256()
  hash.update(secret)
  return hash.digest()
}

/** The first 32 bits of SHA-256 as 6 base-62 characters. Guards against typing errors, not against forgery. */
function checksum(ports: Needs<'newSha256'>, text: string): string {
  let value = Number.parseInt(hashSecret(ports, text).slice(0, 8), 16)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}
