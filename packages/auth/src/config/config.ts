import {
  createCheck,
  namesOf,
  noteMisspellings,
} from '@portcullis/service-kit/settings/config-check'
import {
  type EffectiveSetting,
  listEffectiveSettings,
} from '@portcullis/service-kit/settings/effective-settings'
import {
  type Chapters,
  type Environment,
  type Fault,
  readSettings,
} from '@portcullis/service-kit/settings/env'
import { type CaptchaConfig, captcha, toCaptcha } from '../plugins/captcha/settings.ts'
import { isNeededByFactors, type MfaConfig, mfa, toMfa } from '../plugins/factors/settings.ts'
import { type HooksConfig, hooks, toHooks } from '../plugins/hooks/settings.ts'
import {
  type CustomOAuthConfig,
  customOAuth,
  toCustomOAuth,
} from '../plugins/providers/custom/settings.ts'
import {
  type ExternalConfig,
  type ExternalFlowConfig,
  external,
  externalFlow,
  toExternal,
  toExternalFlow,
} from '../plugins/providers/settings.ts'
import { type SmsConfig, sms, toSms } from '../plugins/sms/settings.ts'
import {
  type ApiConfig,
  api,
  noProxyRemark,
  type ProxiesConfig,
  processes,
  proxies,
  toApi,
  toProxies,
  toWorkers,
} from './api.ts'
import { type ApiKeysConfig, apiKeys, toApiKeys } from './api-keys.ts'
import {
  chooseCompatMode,
  findAdvice,
  inheritedNames,
  noteWithoutEffect,
  toDeprecations,
} from './compatibility.ts'
import {
  type DatabaseConfig,
  database,
  type MigrationsConfig,
  migrations,
  toDatabase,
  toMigrations,
} from './database.ts'
import { type LimitsConfig, limits, toLimits } from './limits/limits.ts'
import {
  type EmailValidationConfig,
  emailValidation,
  toEmailValidation,
} from './mail/email-validation.ts'
import { type MailConfig, type MessagesConfig, mail, messages, toMail } from './mail/mail.ts'
import { type OAuthServerConfig, oauthServer, toOAuthServer } from './oauth-server.ts'
import {
  type ObservabilityConfig,
  observability,
  type ProfilerConfig,
  profiler,
  toObservability,
  toProfiler,
} from './observability.ts'
import { type OpenTelemetryConfig, openTelemetry, toOpenTelemetry } from './open-telemetry.ts'
import { type PasskeysConfig, passkeys, toPasskeys } from './passkeys.ts'
import { type PasswordsConfig, passwords, toPasswords } from './passwords.ts'
import { type ReloadingConfig, reloading, toReloading } from './reloading.ts'
import { type SamlConfig, saml, toSaml } from './saml.ts'
import { type SecretsConfig, secrets, toSecrets } from './secrets.ts'
import { type MetadataConfig, metadata, type SiteConfig, site, toSite } from './site.ts'
import { hasPublicKey, type TokensConfig, tokens, toTokens } from './tokens.ts'
import { toWeb3, type Web3Config, web3 } from './web3.ts'

/** All variables. Validation, `--help` and the manual are generated from this table. */
export const chapters = {
  api,
  proxies,
  database,
  migrations,
  site,
  tokens,
  secrets,
  mail,
  emailValidation,
  sms,
  messages,
  limits,
  captcha,
  passwords,
  metadata,
  mfa,
  passkeys,
  apiKeys,
  web3,
  oauthServer,
  saml,
  observability,
  openTelemetry,
  profiler,
  processes,
  reloading,
  externalFlow,
  customOAuth,
  ...hooks,
  ...external,
} satisfies Chapters

export interface Config {
  readonly api: ApiConfig
  readonly proxies: ProxiesConfig
  readonly database: DatabaseConfig
  readonly migrations: MigrationsConfig
  readonly site: SiteConfig
  readonly tokens: TokensConfig
  /** The keys that encrypt the keys in the database. */
  readonly secrets: SecretsConfig
  readonly mail: MailConfig
  readonly emailValidation: EmailValidationConfig
  readonly sms: SmsConfig
  readonly messages: MessagesConfig
  readonly limits: LimitsConfig
  readonly captcha: CaptchaConfig | undefined
  readonly passwords: PasswordsConfig
  readonly metadata: MetadataConfig
  readonly mfa: MfaConfig
  readonly passkeys: PasskeysConfig
  readonly apiKeys: ApiKeysConfig
  readonly web3: Web3Config
  readonly oauthServer: OAuthServerConfig
  readonly saml: SamlConfig
  readonly external: ExternalConfig
  readonly externalFlow: ExternalFlowConfig
  readonly customOAuth: CustomOAuthConfig
  readonly hooks: HooksConfig
  readonly observability: ObservabilityConfig
  readonly openTelemetry: OpenTelemetryConfig
  /** Undefined: no profiles are served. */
  readonly profiler: ProfilerConfig | undefined
  /** Number of worker processes. */
  readonly workers: number
  readonly reloading: ReloadingConfig
  /** All settings for operators, without secrets. */
  readonly effective: readonly EffectiveSetting[]
}

export interface ParsedConfig {
  /** Valid only if there are no faults. */
  readonly config: Config
  /** Errors that prevent the server from starting. */
  readonly faults: readonly Fault[]
  /** Warnings for the log. */
  readonly notes: readonly string[]
  /** Hints about settings that suit some installations and not others. */
  readonly remarks: readonly string[]
}

/**
 * @param sources the environment, then files; the first source that sets a variable wins, under any
 * of its names.
 */
export function parseConfig(...sources: readonly Environment[]): ParsedConfig {
  const reading = readSettings(chapters, ...sources)
  const { settings } = reading
  const check = createCheck(reading)
  for (const notice of toDeprecations(...sources)) check.note(notice)
  const limitsConfig = toLimits(settings.limits, check)
  const hooksConfig = toHooks(settings, settings.database.url, check)
  const { compatMode } = chapters.api.variables
  const compat = chooseCompatMode(
    check.isSet(compatMode)
      ? { mode: settings.api.compatMode, name: check.nameOf(compatMode) }
      : undefined,
    sources,
  )
  const isUpstream = compat.compatMode === 'upstream'
  const tokensConfig = toTokens(settings.tokens, isUpstream, check)
  const captchaConfig = toCaptcha(settings.captcha, check)
  const config: Config = {
    api: toApi(settings.api, compat, check),
    proxies: toProxies(settings.proxies, limitsConfig.header, check),
    database: toDatabase(settings.database, sources[0] ?? {}, check),
    migrations: toMigrations(settings.migrations, check),
    site: toSite(settings.site, isUpstream, check),
    tokens: tokensConfig,
    secrets: toSecrets(settings.secrets, check),
    mail: toMail(
      settings.mail,
      {
        isUsed: settings.site.emailEnabled,
        isHooked: hooksConfig.sendEmail !== undefined,
        siteUrl: settings.site.url,
      },
      check,
    ),
    emailValidation: toEmailValidation(settings.emailValidation, check),
    sms: toSms(
      settings.sms,
      {
        isUsed: settings.site.phoneEnabled,
        isSecondFactor: isNeededByFactors('text messages', settings.mfa),
        isHooked: hooksConfig.sendSms !== undefined,
        isUpstream,
      },
      check,
    ),
    messages: settings.messages,
    limits: limitsConfig,
    captcha: captchaConfig,
    passwords: toPasswords(settings.passwords, check),
    metadata: settings.metadata,
    mfa: toMfa(settings.mfa, check),
    apiKeys: toApiKeys(settings.apiKeys, tokensConfig.audience, check),
    passkeys: toPasskeys(
      settings.passkeys,
      settings.site.url,
      settings.passkeys.enabled || isNeededByFactors('relying party', settings.mfa),
      check,
    ),
    web3: toWeb3(settings.web3, check),
    oauthServer: toOAuthServer(
      settings.oauthServer,
      { hasPublicKey: hasPublicKey(tokensConfig), hasCaptcha: captchaConfig !== undefined },
      check,
    ),
    saml: toSaml(settings.saml, settings.api.externalUrl, check),
    external: toExternal(settings, check),
    externalFlow: toExternalFlow(settings.externalFlow, check),
    customOAuth: toCustomOAuth(
      settings.customOAuth,
      { apiUrl: settings.api.externalUrl, isUpstream },
      check,
    ),
    hooks: hooksConfig,
    observability: toObservability(settings.observability, settings.database, check),
    openTelemetry: toOpenTelemetry(settings.openTelemetry, sources, check),
    profiler: toProfiler(settings.profiler, check),
    workers: toWorkers(settings.processes, check),
    reloading: toReloading(settings.reloading, check),
    effective: listEffectiveSettings(chapters, reading, ['environment', 'file']),
  }
  // No spelling is suggested for a variable of Supabase Auth about which there is advice.
  const ours = namesOf(...sources).filter(
    (name) => /^(?:AUTH|GOTRUE)_/.test(name) && findAdvice(name) === undefined,
  )
  noteMisspellings(chapters, ours, check, inheritedNames)
  noteWithoutEffect(chapters, sources, check)
  return {
    config,
    faults: check.faults,
    notes: check.notes,
    remarks: config.proxies.headers.length === 0 ? [noProxyRemark] : [],
  }
}
