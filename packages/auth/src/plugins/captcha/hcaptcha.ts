import type { CaptchaService } from './service.ts'

export const hcaptcha: CaptchaService = {
  url: 'https://hcaptcha.com/siteverify',
  // The last: the secret is the one for tests, and people solve the real thing.
  ourMistakes: ['missing-input-secret', 'invalid-input-secret', 'not-using-dummy-passcode'],
  itsTroubles: [],
}
