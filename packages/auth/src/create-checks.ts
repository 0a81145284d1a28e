import type { Log } from '@portcullis/service-kit/log'
import type { Config } from './config/config.ts'
import { post } from './outgoing/http-client.ts'
import { createLeakedPasswords, createPwnedPasswords } from './passwords/password-policy.ts'
import { createCaptcha } from './plugins/captcha/create-captcha.ts'
import { createProviderHttp } from './plugins/providers/oauth/provider-http.ts'
import type { Services } from './services.ts'

export interface ChecksSettings {
  readonly config: Config
  readonly log: Log
  readonly now: () => number
  /** Where others have the same API as those who are asked otherwise: tests bring their own. */
  readonly checkers?: { readonly captchaUrl?: string; readonly leaksUrl?: string } | undefined
}

/** What somebody outside is asked before a request is taken. */
export function createChecks(
  settings: ChecksSettings,
): Pick<Services, 'captcha' | 'passwordPolicy'> {
  const { passwordMinLength: minLength, passwordRequiredSets: requiredSets } = settings.config.site
  return {
    captcha: toCaptcha(settings),
    passwordPolicy: { minLength, requiredSets, leaks: toLeaks(settings) },
  }
}

function toCaptcha({ config, log, checkers }: ChecksSettings): Services['captcha'] {
  if (config.captcha === undefined) return undefined
  const limits = { timeoutMs: toTimeoutMs(config, config.captcha.timeoutMs), maxBytes: 65_536 }
  return createCaptcha({
    config: config.captcha,
    log,
    post: (url, form) => post({ url, body: { form } }, limits),
    url: checkers?.captchaUrl,
  })
}

function toLeaks({ config, log, now, checkers }: ChecksSettings) {
  const { leaks } = config.passwords
  if (leaks === undefined) return undefined
  const { userAgent, failsClosed } = leaks
  // Reference 12.4. A range has some 1,000 lines of 40 bytes.
  const { fetch } = createProviderHttp({
    timeoutMs: toTimeoutMs(config, 5_000),
    maxBytes: 1_048_576,
  })
  const source = createPwnedPasswords({ fetch, userAgent, baseUrl: checkers?.leaksUrl })
  return createLeakedPasswords({ source, failsClosed, log, now })
}

/** People are told of it before the request as a whole has taken too long. Timers want whole numbers. */
function toTimeoutMs({ api }: Config, timeoutMs: number): number {
  return Math.ceil(Math.min(timeoutMs, api.maxRequestDurationMs * 0.8))
}
