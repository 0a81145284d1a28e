import type { Log } from '@portcullis/service-kit/log'
import type { Captcha, CaptchaService } from './captcha.ts'
import { captchaServices } from './index.ts'
import type { CaptchaConfig } from './settings.ts'

export interface CaptchaParts {
  readonly config: CaptchaConfig
  readonly log: Pick<Log, 'error'>
  /** Sends a form. @throws where there is no answer in time. */
  readonly post: (
    url: string,
    form: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly body: unknown }>
  /** Another place with the same API. */
  readonly url?: string | undefined
}

/** Tokens of both services are shorter. */
const longestToken = 16_384

/** Reference 12.3. */
export function createCaptcha({ config, log, post, url }: CaptchaParts): Captcha {
  const service: CaptchaService = captchaServices[config.provider]
  let isMistakeTold = false
  return {
    async findReasons(token, ip) {
      if (token.length > longestToken) return ['invalid-input-response']
      const form = { secret: config.secret, response: token, remoteip: ip }
      const { status, body } = await post(url ?? service.url, form)
      const { success, reasons } = readAnswer(body)
      if (success === undefined) {
        throw new Error(`${config.provider} answered ${status}, and nothing about the token`)
      }
      if (success) return []
      const trouble = reasons.find((reason) => service.providerFailures.includes(reason))
      if (trouble !== undefined) throw new Error(`${config.provider} answered ${trouble}`)
      const mistake = reasons.find((reason) => service.configurationErrors.includes(reason))
      if (mistake !== undefined && !isMistakeTold) {
        // Once is enough: with this secret it stays so.
        isMistakeTold = true
        log.error(
          `AUTH_SECURITY_CAPTCHA_SECRET is not right, and every token is refused: ` +
            `${config.provider} says ${mistake}`,
        )
      }
      // It need not say why.
      return reasons.length === 0 ? ['no reason given'] : reasons
    },
  }
}

interface SiteVerifyAnswer {
  readonly success: boolean | undefined
  readonly reasons: readonly string[]
}

function readAnswer(body: unknown): SiteVerifyAnswer {
  if (typeof body !== 'object' || body === null) return { success: undefined, reasons: [] }
  const fields: Readonly<Record<string, unknown>> = { ...body }
  const { success, 'error-codes': codes } = fields
  return {
    success: typeof success === 'boolean' ? success : undefined,
    reasons: Array.isArray(codes) ? codes.filter((code) => typeof code === 'string') : [],
  }
}
