import type { Config } from './config/config.ts'
import type { Database } from './db/database.ts'
import type { SignInLog } from './features/audit/sign-in-log.ts'
import type { GrantType } from './features/oauth-clients/client-fields.ts'
import type { Redirects } from './features/redirects/redirects.ts'
import type { RevocationFeed } from './features/revocations/feed.ts'
import type { Readiness } from './features/server/readiness.ts'
import type { AccountKeys } from './features/sessions/account-keys.ts'
import type { ProofNonces } from './features/sessions/proof-nonces.ts'
import type { Sessions } from './features/sessions/sessions.ts'
import type { DecoyIds } from './features/sign-up/decoy-ids.ts'
import type { Guesses } from './limits/guesses.ts'
import type { RequestLimits } from './limits/request-limits.ts'
import type { MailRenderer } from './messages/mail/mail-renderer.ts'
import type { EmailCheck } from './messages/requests/email-check.ts'
import type { GatewayCodes } from './messages/requests/gateway-codes.ts'
import type { MailPlanner } from './messages/requests/mail-plan.ts'
import type { CooldownKeys } from './messages/requests/message-cooldowns.ts'
import type { PasswordPolicy } from './passwords/password-policy.ts'
import type { Passwords } from './passwords/passwords.ts'
import type { Captcha } from './plugins/captcha/captcha.ts'
import type { Hooks } from './plugins/hooks/index.ts'
import type { CustomProviders } from './plugins/providers/custom/custom-provider.ts'
import type { ExternalProviders } from './plugins/providers/oauth/provider.ts'
import type { ServiceProvider } from './saml/service-provider.ts'
import type { TokenSigner } from './tokens/json-web-token.ts'
import type { OneTimeTokens } from './tokens/one-time-tokens.ts'
import type { SecretBox } from './tokens/secret-box.ts'
import type { SigningKeys } from './tokens/signing-keys.ts'

/** The services that endpoints use; `create-services.ts` creates them for each configuration. */
export interface Services {
  readonly config: Config
  readonly version: string
  readonly db: Database
  readonly signer: TokenSigner
  readonly signingKeys: SigningKeys
  readonly sessions: Sessions
  /** The nonces of DPoP proofs. */
  readonly proofNonces: ProofNonces
  readonly passwords: Passwords
  readonly passwordPolicy: PasswordPolicy
  /** Undefined: messages are sent to every address. */
  readonly emailCheck: EmailCheck | undefined
  /** Undefined: this server creates the codes in text messages. */
  readonly gatewayCodes: GatewayCodes | undefined
  /** Undefined: no CAPTCHA is configured. */
  readonly captcha: Captcha | undefined
  readonly oneTimeTokens: OneTimeTokens
  readonly decoyIds: DecoyIds
  readonly cooldownKeys: CooldownKeys
  readonly factorSecrets: SecretBox
  readonly providers: ExternalProviders
  /** This server as a SAML service provider. Undefined: SAML is disabled. */
  readonly serviceProvider: ServiceProvider | undefined
  /** Fetches the metadata of an identity provider. @throws {OutgoingError} */
  readonly fetchMetadata: (url: string) => Promise<string>
  /** Opens the providers that administrators have registered. */
  readonly customProviders: CustomProviders
  readonly hooks: Hooks
  /** The grants for which OAuth clients can register. */
  readonly grantTypes: readonly GrantType[]
  readonly readiness: Readiness
  readonly redirects: Redirects
  readonly revocationFeed: RevocationFeed
  readonly requestLimits: RequestLimits
  readonly guesses: Guesses
  readonly accountKeys: AccountKeys
  readonly mail: MailPlanner
  readonly mailRenderer: MailRenderer
  /** Notifies the sender that messages are waiting. */
  readonly wakeMessages: () => void
  /** Fetches the document that describes an OAuth client. @throws {OutgoingError} */
  readonly fetchClientDocument: (url: URL) => Promise<string>
  readonly signInLog: SignInLog
  /**
   * When this server started; with several processes, when the first of them started. Milliseconds
   * since the epoch.
   */
  readonly startedAt: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}
