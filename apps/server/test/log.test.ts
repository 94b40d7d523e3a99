import { expect, test } from 'vitest'
import { withoutSecrets } from '../src/log.ts'

const SECRET = 'Q'.repeat(49)

test.each([
  [`GET /api/v1/me?X-Service-Token=sms_${SECRET}&a=b`, 'GET /api/v1/me?X-Service-Token=sms_[hidden]&a=b'],
  [`the code smi_${SECRET}, percent-encoded smi%5F${SECRET}`, 'the code smi_[hidden], percent-encoded smi_[hidden]'],
])('the log hides tokens and codes in what it is told: %s', (text, hidden) => {
  expect(withoutSecrets(text)).toBe(hidden)
})

test('the log shows the beginning of a token, by which its owner recognises it', () => {
  expect(withoutSecrets('token sms_skeUEq was used')).toBe('token sms_skeUEq was used')
})
