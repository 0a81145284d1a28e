import type { CaptchaService } from './captcha.ts'

export const turnstile: CaptchaService = {
  url: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  configurationErrors: ['missing-input-secret', 'invalid-input-secret'],
  providerFailures: ['internal-error'],
}
