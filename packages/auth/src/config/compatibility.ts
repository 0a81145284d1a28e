import type { CollectedCheck } from '@portcullis/service-kit/settings/config-check'
import type { Chapters, Environment } from '@portcullis/service-kit/settings/env'

export const compatModes = ['auto', 'specification', 'upstream'] as const
export type CompatMode = (typeof compatModes)[number]

/** The mode in use. */
export interface CompatChoice {
  readonly compatMode: CompatMode
  /** Completes the sentence "The mode is upstream, because …". */
  readonly compatReason: string
}

/**
 * Without AUTH_COMPAT_MODE, the names of the variables decide: a configuration with `GOTRUE_` names
 * was written for Supabase Auth, whose clients do not all send the version header.
 * @param configured undefined if AUTH_COMPAT_MODE is not set.
 */
export function chooseCompatMode(
  configured: { readonly mode: CompatMode; readonly name: string } | undefined,
  sources: readonly Environment[],
): CompatChoice {
  if (configured !== undefined) {
    return { compatMode: configured.mode, compatReason: `${configured.name} is set` }
  }
  const old = sources.map(findOldName).find((name) => name !== undefined)
  return old === undefined
    ? { compatMode: 'auto', compatReason: 'the configuration has no GOTRUE_ variables' }
    : {
        compatMode: 'upstream',
        compatReason: `the configuration has GOTRUE_ variables, such as ${old}`,
      }
}

/** Empty values are ignored, because compose files pass variables without a value as empty ones. */
function findOldName(source: Environment): string | undefined {
  const names = Object.keys(source).filter((name) => (source[name] ?? '').trim() !== '')
  return names.sort().find((name) => name.startsWith('GOTRUE_'))
}

const meanings: Readonly<Record<CompatMode, string>> = {
  auto: "requests with the header X-Supabase-Api-Version get the behaviour of Supabase Auth, others that of this server's own API",
  specification: "all requests get the behaviour of this server's own API",
  upstream: 'all requests get the behaviour of Supabase Auth',
}

/** For the line that reports the start. */
export function toCompatNote({ compatMode, compatReason }: CompatChoice): string {
  return `compatibility mode ${compatMode} (${compatReason})`
}

/** One line for `config check`. */
export function explainCompatMode({ compatMode, compatReason }: CompatChoice): string {
  const meaning = meanings[compatMode]
  return `The compatibility mode is ${compatMode}, because ${compatReason}: ${meaning} (AUTH_COMPAT_MODE)`
}

/**
 * Variables of GoTrue that this server does not support. They are accepted, with a deprecation
 * notice, so that a server with an existing configuration still starts.
 */
const inherited: Readonly<Record<string, string>> = {
  OPERATOR_TOKEN: 'belongs to the multi-instance mode, which is not supported',
  API_ENDPOINT: 'belongs to the multi-instance mode, which is not supported',
  MULTI_INSTANCE_MODE: 'is not supported: run one server for each instance',
}

const toSpellings = (name: string) => [`AUTH_${name}`, `GOTRUE_${name}`, name]

export const inheritedNames: readonly string[] = Object.keys(inherited).flatMap(toSpellings)

/** Returns a deprecation notice for each that is set. */
export function toDeprecations(...sources: readonly Environment[]): string[] {
  return Object.entries(inherited).flatMap(([name, why]) =>
    toSpellings(name)
      .filter((spelling) => sources.some((source) => source[spelling]))
      .map((spelling) => `${spelling} is deprecated and has no effect: it ${why}`),
  )
}

/**
 * What to do about variables of Supabase Auth that this server does not have. The first pattern that
 * matches the name without its prefix applies; `$1` stands for its first group.
 */
const advice: readonly (readonly [RegExp, string])[] = [
  // Supabase Auth also reads these with the name of their section, which this server does not.
  [/^API_(REQUEST_ID_HEADER|API_EXTERNAL_URL)$/, 'use $1 instead'],
  [/^DB_(DB_NAMESPACE)$/, 'use $1 instead'],
  [/^(?:TRACING|METRICS)_(OTEL_EXPORTER_OTLP_PROTOCOL)$/, 'use $1 instead'],
  [/^METRICS_OTEL_EXPORTER_PROMETHEUS_(HOST|PORT)$/, 'use OTEL_EXPORTER_PULL_$1 instead'],
  [/^DB_MIGRATIONS_PATH$/, 'the migrations are part of this server. Remove it'],
  [
    /^DB_AUTOMIGRATE$/,
    '"auth up" migrates the tables at startup, "auth serve" does not. Remove it',
  ],
  [/^DB_ADVISOR_/, 'this server does not advise on the size of the pool. Remove it'],
  [/^MAILER_EMAIL_BACKGROUND_SENDING$/, 'messages are always sent after the response. Remove it'],
  [
    /^SECURITY_REFRESH_TOKEN_(?:ALGORITHM_VERSION|UPGRADE_PERCENTAGE)$/,
    'this server has one format of refresh tokens. Remove it',
  ],
  [/^PASSWORD_HIBP_BLOOM_/, 'leaked passwords are looked up without a local filter. Remove it'],
  [/^(?:SESSION_KEY|COOKIE_.+)$/, 'this server keeps no sessions in cookies. Remove it'],
  [/^EXTERNAL_SAML_/, 'use GOTRUE_SAML_ENABLED and /admin/sso/providers instead'],
  [/^HOOK_CUSTOM_SMS_PROVIDER_SECRETS?$/, 'use GOTRUE_HOOK_SEND_SMS_SECRETS instead'],
  [/^HOOK_CUSTOM_SMS_PROVIDER_(.+)$/, 'use GOTRUE_HOOK_SEND_SMS_$1 instead'],
  [/^HOOK_(.+)_SECRET$/, 'use GOTRUE_HOOK_$1_SECRETS instead'],
  [/^(MAX_VERIFIED_FACTORS|MAX_ENROLLED_FACTORS)$/, 'use GOTRUE_MFA_$1 instead'],
  [/^EXTERNAL_SKIP_NONCE_CHECK$/, 'use GOTRUE_EXTERNAL_GOOGLE_SKIP_NONCE_CHECK instead'],
  [
    /^EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED$/,
    'a user who sets a password gets no email identity. Remove it',
  ],
  [
    /^EXPERIMENTAL_(?:PROVIDERS_WITH_OWN_LINKING_DOMAIN|PROVIDER_LINKING_DOMAINS)$/,
    'this server links the accounts of all providers with the same verified address to one user. ' +
      'Before you remove it, make sure that you trust the addresses of these providers',
  ],
  [
    /^EXPERIMENTAL_CURSOR_PAGINATION_ENABLED$/,
    'GET /admin/users always accepts a cursor. Remove it',
  ],
  [/^EXPERIMENTAL_SCIM_ENABLED$/, 'use GOTRUE_SAML_ENABLED instead, which enables SCIM'],
  [/^EXPERIMENTAL_/, 'this server has no experimental features of Supabase Auth. Remove it'],
  [/^INDEX_WORKER_/, 'the migrations create all indexes. Remove it'],
  [/^WEBHOOK_/, 'use the hooks (AUTH_HOOK_...) instead'],
  [/^TRACING_(?:HOST|PORT|TAGS)$/, 'use the OTEL_EXPORTER_OTLP_ variables instead'],
  [/^TRACING_SERVICE_NAME$/, 'use GOTRUE_OTEL_SERVICE_NAME instead'],
  [
    /^LOG_(?:DISABLE_COLORS|QUOTE_EMPTY_FIELDS|TSFORMAT|FIELDS|SQL)$/,
    'the format of the log is fixed. Remove it',
  ],
  [/^SMTP_LOGGING_ENABLED$/, 'messages that cannot be sent are always logged. Remove it'],
  [
    /^MAILER_TEMPLATE_RELOADING_/,
    'templates are fetched again when they are older than AUTH_MAILER_TEMPLATE_MAX_AGE. Remove it',
  ],
  [
    /^MAILER_URLPATHS_MAGIC_LINK$/,
    'the link has the path of GOTRUE_MAILER_URLPATHS_RECOVERY. Remove it',
  ],
  [/^MAILER_URLPATHS_(?:REAUTHENTICATION|.+_NOTIFICATION)$/, 'this message has no link. Remove it'],
  [/^EXTERNAL_OIDC_PROVIDER_CACHE_TTL$/, 'the keys of a provider are always cached. Remove it'],
]

const otherProvider =
  /^GOTRUE_EXTERNAL_(.+?)_(?:ENABLED|CLIENT_ID|SECRET|REDIRECT_URI|URL|API_URL|SKIP_NONCE_CHECK|EMAIL_OPTIONAL)$/

function toProviderAdvice(name: string): string | undefined {
  const provider = otherProvider.exec(name)?.[1]?.toLowerCase()
  return (
    provider && `this server has no provider ${provider}. Its users need another way to sign in`
  )
}

/** Undefined if nothing is known about the variable. */
export function findAdvice(name: string): string | undefined {
  if (!name.startsWith('GOTRUE_')) return undefined
  const bare = name.slice('GOTRUE_'.length)
  for (const [pattern, text] of advice) {
    const found = pattern.exec(bare)
    if (found !== null) return text.replaceAll('$1', found[1] ?? '')
  }
  return undefined
}

/** The OpenTelemetry SDK reads these variables. */
const exporterVariable = /^GOTRUE_OTEL_EXPORTER_OTLP_/
const unknown =
  'this server has no such variable. Remove it, or see docs/auth-migration-behaviours.md'
/** Disabling a feature that does not exist is not worth a note. */
const off = /^\s*(?:0|f|false)?\s*$/i

/**
 * Notes GoTrue variables that this server does not have, because an operator who reuses a
 * configuration would expect them to have an effect. Variables that were noted already are skipped.
 */
export function noteWithoutEffect(
  chapters: Chapters,
  sources: readonly Environment[],
  check: CollectedCheck,
): void {
  const variables = Object.values(chapters).flatMap((chapter) => Object.values(chapter.variables))
  const known = new Set(variables.flatMap(({ name, aliases }) => [name, ...aliases]))
  const set = sources
    .flatMap((source) => Object.entries(source))
    .filter(([name, value]) => name.startsWith('GOTRUE_') && !off.test(value ?? ''))
    .map(([name]) => name)
  for (const name of new Set(set)) {
    const isNoted = check.notes.some((note) => note.startsWith(`${name} `))
    if (known.has(name) || isNoted || exporterVariable.test(name)) continue
    check.note(`${name} has no effect: ${findAdvice(name) ?? toProviderAdvice(name) ?? unknown}`)
  }
}
