import { createCheck, namesOf, noteMisspellings } from '@portcullis/service-kit/config-check'
import {
  type Chapters,
  type Environment,
  type Fault,
  readSettings,
} from '@portcullis/service-kit/env'
import { type ApiConfig, api, toApi } from './config/api.ts'
import { type CaptchaConfig, captcha, toCaptcha } from './config/captcha.ts'
import { type DatabaseConfig, database, toDatabase } from './config/database.ts'
import { type ExternalConfig, external, toExternal } from './config/external.ts'
import { inheritedNames, toDeprecations } from './config/inherited.ts'
import { type LimitsConfig, limits, toLimits } from './config/limits.ts'
import { type MailConfig, mail, toMail } from './config/mail.ts'
import { type ObservabilityConfig, observability, toObservability } from './config/observability.ts'
import { type SiteConfig, site, toSite } from './config/site.ts'
import { type SmsConfig, sms, toSms } from './config/sms.ts'
import { type TokensConfig, tokens, toTokens } from './config/tokens.ts'

/** Every variable there is. Validation, `--help` and the manual come from this table. */
export const chapters = {
  api,
  database,
  site,
  tokens,
  mail,
  sms,
  limits,
  captcha,
  observability,
  ...external,
} satisfies Chapters

export interface Config {
  readonly api: ApiConfig
  readonly database: DatabaseConfig
  readonly site: SiteConfig
  readonly tokens: TokensConfig
  readonly mail: MailConfig
  readonly sms: SmsConfig
  readonly limits: LimitsConfig
  readonly captcha: CaptchaConfig | undefined
  readonly external: ExternalConfig
  readonly observability: ObservabilityConfig
}

export interface ParsedConfig {
  /** Only to be used when there are no faults. */
  readonly config: Config
  /** All that keeps the server from starting. */
  readonly faults: readonly Fault[]
  /** Warnings for the log. */
  readonly notes: readonly string[]
}

/** @param sources the environment, then files: who comes first wins, in whatever spelling. */
export function parseConfig(...sources: readonly Environment[]): ParsedConfig {
  const reading = readSettings(chapters, ...sources)
  const { settings } = reading
  const check = createCheck(reading)
  for (const notice of toDeprecations(...sources)) check.note(notice)
  const config: Config = {
    api: toApi(settings.api, check),
    database: toDatabase(settings.database, check),
    site: toSite(settings.site, check),
    tokens: toTokens(settings.tokens, check),
    mail: toMail(settings.mail, settings.site.emailEnabled, check),
    sms: toSms(settings.sms, check),
    limits: toLimits(settings.limits, check),
    captcha: toCaptcha(settings.captcha, check),
    external: toExternal(settings, check),
    observability: toObservability(settings.observability),
  }
  const ours = namesOf(...sources).filter((name) => /^(?:AUTH|GOTRUE)_/.test(name))
  noteMisspellings(chapters, ours, check, inheritedNames)
  return { config, faults: check.faults, notes: check.notes }
}
