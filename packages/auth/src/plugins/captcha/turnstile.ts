import type { CaptchaService } from './service.ts'

export const turnstile: CaptchaService = {
  url: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  ourMistakes: ['missing-input-secret', 'invalid-input-secret'],
  itsTroubles: ['internal-error'],
}
