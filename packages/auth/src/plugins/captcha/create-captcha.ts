import type { Log } from '@portcullis/service-kit/log/log'
import type { Captcha, CaptchaService } from './captcha.ts'
import { captchaServices } from './index.ts'
import type { CaptchaConfig } from './settings.ts'

export interface CaptchaParts {
  readonly config: CaptchaConfig
  readonly log: Pick<Log, 'error'>
  /** Posts a form. @throws when no response arrives in time. */
  readonly post: (
    url: string,
    form: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly body: unknown }>
  /** Overrides the URL of the service. */
  readonly url?: string | undefined
}

/** Both services issue shorter tokens. */
const longestToken = 16_384

export function createCaptcha({ config, log, post, url }: CaptchaParts): Captcha {
  const service: CaptchaService = captchaServices[config.provider]
  let isErrorLogged = false
  return {
    async findReasons(token, ip) {
      if (token.length > longestToken) return ['invalid-input-response']
      const form = { secret: config.secret, response: token, remoteip: ip }
      const { status, body } = await post(url ?? service.url, form)
      const { success, reasons } = readResponse(body)
      if (success === undefined) {
        throw new Error(
          `${config.provider} responded with status ${status} and no verdict on the token`,
        )
      }
      if (success) return []
      const failure = reasons.find((reason) => service.providerFailures.includes(reason))
      if (failure !== undefined) throw new Error(`${config.provider} responded with ${failure}`)
      const fault = reasons.find((reason) => service.configurationErrors.includes(reason))
      if (fault !== undefined && !isErrorLogged) {
        // Log it only once: the secret does not change while the server runs.
        isErrorLogged = true
        log.error(
          `AUTH_SECURITY_CAPTCHA_SECRET is wrong, so every token is refused: ` +
            `${config.provider} responded with ${fault}`,
        )
      }
      // The service may refuse a token without giving a reason.
      return reasons.length === 0 ? ['no reason given'] : reasons
    },
  }
}

interface SiteVerifyResponse {
  readonly success: boolean | undefined
  readonly reasons: readonly string[]
}

function readResponse(body: unknown): SiteVerifyResponse {
  if (typeof body !== 'object' || body === null) return { success: undefined, reasons: [] }
  const fields: Readonly<Record<string, unknown>> = { ...body }
  const { success, 'error-codes': codes } = fields
  return {
    success: typeof success === 'boolean' ? success : undefined,
    reasons: Array.isArray(codes) ? codes.filter((code) => typeof code === 'string') : [],
  }
}
