import type { CaptchaService } from './captcha.ts'

export const hcaptcha: CaptchaService = {
  url: 'https://hcaptcha.com/siteverify',
  // `not-using-dummy-passcode` means that test keys and real keys are mixed.
  configurationErrors: ['missing-input-secret', 'invalid-input-secret', 'not-using-dummy-passcode'],
  providerFailures: [],
}
