import type { CaptchaService } from './captcha.ts'

export const hcaptcha: CaptchaService = {
  url: 'https://hcaptcha.com/siteverify',
  // The last: the secret is the one for tests, and people solve the real thing.
  configurationErrors: ['missing-input-secret', 'invalid-input-secret', 'not-using-dummy-passcode'],
  providerFailures: [],
}
