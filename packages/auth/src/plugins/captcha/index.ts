import { hcaptcha } from './hcaptcha.ts'
import type { CaptchaService } from './service.ts'
import { turnstile } from './turnstile.ts'

/** By AUTH_SECURITY_CAPTCHA_PROVIDER. */
export const captchaServices = { hcaptcha, turnstile } satisfies Record<string, CaptchaService>
