import type { CaptchaService } from './captcha.ts'
import { hcaptcha } from './hcaptcha.ts'
import { turnstile } from './turnstile.ts'

/** The services by the value of AUTH_SECURITY_CAPTCHA_PROVIDER. */
export const captchaServices = { hcaptcha, turnstile } satisfies Record<string, CaptchaService>

export type CaptchaName = keyof typeof captchaServices

export function isCaptchaName(text: string): text is CaptchaName {
  return Object.hasOwn(captchaServices, text)
}
