import {
  type AnyVariable,
  type Chapters,
  type Environment,
  type Fault,
  readSettings,
} from '@portcullis/service-kit/env'
import { findMisspellings } from '@portcullis/service-kit/similar-names'
import { type ApiConfig, api, toApi } from './config/api.ts'
import { type CaptchaConfig, captcha, toCaptcha } from './config/captcha.ts'
import type { Check } from './config/check.ts'
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
  const faults = [...reading.faults]
  const notes = [...reading.notes, ...toDeprecations(...sources)]
  const check: Check = {
    fault: (variable, message) => faults.push(reading.toFault(variable, message)),
    note: (text) => notes.push(text),
    isSet: (variable) => reading.nameAsSet(variable) !== undefined,
    nameOf: (variable) => reading.nameAsSet(variable) ?? variable.name,
  }
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
  for (const { name, suggestion } of findUnknown(sources)) {
    notes.push(`${name} is not a variable of this server: did you mean ${suggestion}?`)
  }
  return { config, faults, notes }
}

function findUnknown(sources: readonly Environment[]) {
  const variables: AnyVariable[] = Object.values(chapters).flatMap((chapter) =>
    Object.values(chapter.variables),
  )
  const known = new Set(variables.flatMap(({ name, aliases }) => [name, ...aliases]))
  for (const name of inheritedNames) known.add(`AUTH_${name}`).add(`GOTRUE_${name}`)
  const ours = sources
    .flatMap((source) => Object.keys(source))
    .filter((name) => /^(?:AUTH|GOTRUE)_/.test(name))
  return findMisspellings(ours, known)
}
