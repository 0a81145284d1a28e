import { availableParallelism } from 'node:os'
import process from 'node:process'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Config } from './config/config.ts'
import { toIssuer } from './config/oauth-server.ts'
import { noSignInLog, type SignInLog } from './features/audit/sign-in-log.ts'
import { grants } from './features/oauth-server/grants/index.ts'
import { createRedirects } from './features/redirects/redirects.ts'
import { noRevocationFeed } from './features/revocations/feed.ts'
import { createReadiness } from './features/server/readiness.ts'
import { createAccountKeys } from './features/sessions/account-keys.ts'
import { createImportedTokens } from './features/sessions/imported-tokens.ts'
import { createProofNonces } from './features/sessions/proof-nonces.ts'
import { createRefreshTokens } from './features/sessions/refresh-tokens.ts'
import { createSessions, type SessionParts } from './features/sessions/sessions.ts'
import { createDecoyIds } from './features/sign-up/decoy-ids.ts'
import { createBuckets } from './limits/buckets.ts'
import { createGuesses } from './limits/guesses.ts'
import { toLimitTable } from './limits/limit-table.ts'
import { createMailRenderer } from './messages/mail/mail-renderer.ts'
import { createEmailCheck } from './messages/requests/email-check.ts'
import { createGatewayCodes } from './messages/requests/gateway-codes.ts'
import { createMailPlanner } from './messages/requests/mail-plan.ts'
import { createCooldownKeys } from './messages/requests/message-cooldowns.ts'
import { type FetchSettings, fetchGuarded } from './outgoing/guarded-fetch.ts'
import { post } from './outgoing/http-client.ts'
import { writtenFormats } from './passwords/formats/index.ts'
import type { WrittenFormat } from './passwords/formats/password-format.ts'
import { createLeakedPasswords, createPwnedPasswords } from './passwords/password-policy.ts'
import { createHashQueue, createPasswords, type HashQueue } from './passwords/passwords.ts'
import { createCaptcha } from './plugins/captcha/create-captcha.ts'
import { createHooks } from './plugins/hooks/create-hooks.ts'
import { createOpenIdLater, createProviders } from './plugins/providers/create-providers.ts'
import { createCustomProviders } from './plugins/providers/custom/custom-provider.ts'
import { createProviderHttp } from './plugins/providers/oauth/provider-http.ts'
import { mostMetadataCharacters } from './saml/identity-provider.ts'
import { createServiceProvider } from './saml/service-provider.ts'
import type { Services } from './services.ts'
import { createHashBox } from './tokens/hash-box.ts'
import { createTokenSigner } from './tokens/json-web-token.ts'
import { createOneTimeTokens } from './tokens/one-time-tokens.ts'
import { createSecretBox } from './tokens/secret-box.ts'
import type { ServerKeys } from './tokens/server-keys.ts'
import { createSigningKeys } from './tokens/signing-keys.ts'

interface ServicesSettings
  extends Pick<SessionParts, 'deliveries'>,
    Pick<Services, 'config' | 'version' | 'db' | 'wakeMessages' | 'now'>,
    Partial<Pick<Services, 'revocationFeed'>>,
    Pick<ChecksSettings, 'log' | 'checkers'> {
  /** Tests use a fast format because they create many users. */
  readonly passwordFormat?: WrittenFormat | undefined
  readonly keys: Pick<ServerKeys, 'ring'>
  /** Default: sign-ins are not recorded. */
  readonly signInLog?: SignInLog
  /** Default: the start of this process. */
  readonly startedAt?: number | undefined
  /** Default: a queue for all cores. */
  readonly hashing?: HashQueue
  /** Default: limits that this process counts from now on. */
  readonly limits?: Pick<Services, 'requestLimits' | 'guesses'>
}

/** @param share the number of processes that share the cores. */
export function createSharedHashQueue(share: number): HashQueue {
  return createHashQueue({
    atOnce: Math.ceil(availableParallelism() / share),
    mostWaiting: Math.ceil(200 / share),
  })
}

function createOwnLimits(config: Config, now: () => number) {
  const requestLimits = createBuckets(toLimitTable(config), now)
  return { requestLimits, guesses: createGuesses(requestLimits) }
}

/** Creates the services that endpoints and commands use. */
export function createServices(settings: ServicesSettings): Services {
  const { config, version, db, keys, wakeMessages, now } = settings
  const { signInLog = noSignInLog, startedAt = toProcessStart() } = settings
  const { tokens, site } = config
  const signingKeys = createSigningKeys(tokens)
  const { issuer, acceptedIssuers } = tokens
  const issuers = issuer === undefined ? undefined : [issuer, ...acceptedIssuers]
  const signer = createTokenSigner(signingKeys, issuers)
  const oneTimeTokens = createOneTimeTokens(keys.ring('one_time_tokens'))
  const { hashing = createSharedHashQueue(1), limits = createOwnLimits(config, now) } = settings
  const hooks = createHooks({ config: config.hooks, db, now, log: settings.log })
  return {
    config,
    version,
    db,
    signer,
    signingKeys,
    sessions: createSessions({
      db,
      signer,
      refreshTokens: createRefreshTokens(keys.ring('refresh_tokens')),
      importedTokens: createImportedTokens({ db, keys: keys.ring('refresh_tokens') }),
      settings: { ...tokens, ...tokens.sessions, clientIssuer: toIssuer(config) },
      customize: hooks.customAccessToken,
      tokenSize: {
        mostBytes: config.metadata.mostTokenBytes,
        onOmitted: (userId) =>
          settings.log.warning(
            `An access token was issued without the user_metadata of user ${userId}, because the token would exceed AUTH_JWT_MAX_BYTES`,
          ),
      },
      deliveries: settings.deliveries,
      onSignedIn: () => signInLog.countSignIn(),
      now,
    }),
    proofNonces: createProofNonces(keys.ring('proof_nonces')),
    passwords: createPasswords({
      queue: hashing,
      hashes: createHashBox(config.secrets.hashes),
      written: settings.passwordFormat ?? writtenFormats[config.passwords.hash],
    }),
    ...createChecks(settings),
    oneTimeTokens,
    decoyIds: createDecoyIds(keys.ring('decoy_ids')),
    cooldownKeys: createCooldownKeys(keys.ring('message_gaps')),
    factorSecrets: createSecretBox(keys.ring('factor_secrets')),
    mail: createMailPlanner({ config: config.mail, siteUrl: site.url, oneTimeTokens, now }),
    mailRenderer: createMailRenderer({ mail: config.mail, siteUrl: site.url, log: settings.log }),
    wakeMessages,
    hooks,
    grantTypes: grants,
    providers: createProviders({
      config: config.external,
      iosBundleId: config.externalFlow.iosBundleId,
      allowedIssuers: {
        issuers: config.externalFlow.allowedIssuers,
        clientIds: config.externalFlow.allowedClientIds,
      },
      // The timeout is shorter than the request time limit, so that the client gets this error.
      timeoutMs: Math.min(10_000, Math.ceil(config.api.maxRequestDurationMs * 0.8)),
      now,
    }),
    serviceProvider: toServiceProvider(config),
    fetchMetadata: (url) =>
      fetchGuarded(new URL(url), {
        timeoutMs: toTimeoutMs(config, 5_000),
        maxBytes: mostMetadataCharacters,
        internalHosts: config.saml.metadataHosts,
        requiresTls: true,
        ...(settings.checkers?.metadataCa !== undefined && { ca: settings.checkers.metadataCa }),
      }),
    customProviders: createCustomProviders({
      ...config.customOAuth,
      limits: { timeoutMs: toTimeoutMs(config, 10_000), maxBytes: 1_000_000 },
      createOpenId: (http) => createOpenIdLater({ http, now }),
    }),
    readiness: createReadiness({ db }),
    redirects: createRedirects({
      siteUrl: site.url,
      allowList: site.uriAllowList,
      isStrict: site.strictRedirects,
    }),
    revocationFeed: settings.revocationFeed ?? noRevocationFeed,
    ...limits,
    fetchClientDocument: createDocumentFetch(settings),
    accountKeys: createAccountKeys(keys.ring('accounts')),
    signInLog,
    startedAt,
    now,
  }
}

function toServiceProvider({ saml }: Config): Services['serviceProvider'] {
  if (saml.privateKey === undefined) return undefined
  return createServiceProvider({
    externalUrl: saml.externalUrl,
    privateKey: saml.privateKey,
    nextPrivateKey: saml.privateKeyNext,
    allowsEncryption: saml.allowsEncryption,
  })
}

/** Milliseconds since the epoch. */
export function toProcessStart(): number {
  return Math.round(Date.now() - process.uptime() * 1_000)
}

export interface ChecksSettings {
  readonly config: Config
  readonly log: Log
  readonly now: () => number
  /** URLs of services with the same API, for tests. */
  readonly checkers?:
    | {
        readonly captchaUrl?: string
        readonly leaksUrl?: string
        readonly smsUrl?: string
        readonly dnsServers?: readonly string[]
        /** A certificate authority for the metadata of identity providers, as PEM. */
        readonly metadataCa?: string
        readonly clientDocuments?: Partial<FetchSettings>
      }
    | undefined
}

/** Creates the checks that call an external service before a request is accepted. */
function createChecks(
  settings: ChecksSettings,
): Pick<Services, 'captcha' | 'passwordPolicy' | 'emailCheck' | 'gatewayCodes'> {
  const { passwordMinLength: minLength, passwordRequiredSets: requiredSets } = settings.config.site
  return {
    captcha: createCaptchaCheck(settings),
    emailCheck: createEmailCheck({
      config: settings.config.emailValidation,
      log: settings.log,
      timeoutMs: toTimeoutMs(settings.config, 3_000),
      dnsServers: settings.checkers?.dnsServers,
    }),
    gatewayCodes: createGatewayCodes({
      gateway: settings.config.sms.gateway,
      timeoutMs: toTimeoutMs(settings.config, 10_000),
      baseUrl: settings.checkers?.smsUrl,
    }),
    passwordPolicy: { minLength, requiredSets, leaks: createLeakCheck(settings) },
  }
}

function createCaptchaCheck({ config, log, checkers }: ChecksSettings): Services['captcha'] {
  if (config.captcha === undefined) return undefined
  const limits = { timeoutMs: toTimeoutMs(config, config.captcha.timeoutMs), maxBytes: 65_536 }
  return createCaptcha({
    config: config.captcha,
    log,
    post: (url, form) => post({ url, body: { form } }, limits),
    url: checkers?.captchaUrl,
  })
}

/** Redirects are not followed, because the URL is the identity of the client. */
function createDocumentFetch({
  config,
  checkers,
}: ChecksSettings): Services['fetchClientDocument'] {
  const settings: FetchSettings = {
    timeoutMs: toTimeoutMs(config, 5_000),
    maxBytes: 10_240,
    internalHosts: [],
    mostRedirects: 0,
    ...checkers?.clientDocuments,
  }
  return (url) => fetchGuarded(url, settings)
}

function createLeakCheck({ config, log, now, checkers }: ChecksSettings) {
  const { leaks } = config.passwords
  if (leaks === undefined) return undefined
  const { userAgent, failsClosed } = leaks
  // A response has about 1,000 lines of 40 bytes.
  const { fetch } = createProviderHttp({
    timeoutMs: toTimeoutMs(config, 5_000),
    maxBytes: 1_048_576,
  })
  const source = createPwnedPasswords({ fetch, userAgent, baseUrl: checkers?.leaksUrl })
  return createLeakedPasswords({ source, failsClosed, log, now })
}

/**
 * Shorter than the request time limit, so that the client gets the specific error. Timers need
 * integers.
 */
function toTimeoutMs({ api }: Config, timeoutMs: number): number {
  return Math.ceil(Math.min(timeoutMs, api.maxRequestDurationMs * 0.8))
}
