import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  hideAll,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkDuration, oneHour } from '../../config/checks.ts'
import { toAlternatives, withOldNames } from '../../config/variables.ts'
import { type CaptchaName, captchaServices, isCaptchaName } from './index.ts'

const captchaNames = Object.keys(captchaServices).filter(isCaptchaName)

export const captcha = {
  title: 'CAPTCHA',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_SECURITY_CAPTCHA_ENABLED',
      false,
      'Whether requests to sign up, sign in or send a message must include a captcha_token',
    ),
    provider: choice(
      'AUTH_SECURITY_CAPTCHA_PROVIDER',
      captchaNames,
      'hcaptcha',
      'The service that checks the tokens',
      {
        refuse: (text) =>
          `unsupported captcha provider: ${text}. It must be ${toAlternatives(captchaNames)}`,
      },
    ),
    secret: string('AUTH_SECURITY_CAPTCHA_SECRET', '', 'The secret key issued by the service', {
      mask: hideAll,
    }),
    timeoutMs: duration('AUTH_SECURITY_CAPTCHA_TIMEOUT', '10s', 'Timeout for checking a token'),
  }),
} satisfies Chapter

export interface CaptchaConfig {
  readonly provider: CaptchaName
  readonly secret: string
  readonly timeoutMs: number
}

/** Undefined when CAPTCHAs are disabled. */
export function toCaptcha(
  settings: Settings<typeof captcha.variables>,
  check: Check,
): CaptchaConfig | undefined {
  const { enabled, ...rest } = settings
  if (!enabled) return undefined
  if (rest.timeoutMs === 0) check.fault(captcha.variables.timeoutMs, 'must be longer than 0')
  checkDuration(captcha.variables.timeoutMs, rest.timeoutMs, oneHour, check)
  if (rest.secret === '') check.fault(captcha.variables.secret, 'captcha provider secret is empty')
  // Timers count whole milliseconds.
  return { ...rest, timeoutMs: Math.ceil(rest.timeoutMs) }
}
