import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Captcha } from './captcha.ts'
import type { DecoyIds } from './decoy-ids.ts'
import type { ExternalProviders } from './external-provider.ts'
import type { Guesses } from './guesses.ts'
import type { Hooks } from './hooks.ts'
import type { TokenSigner } from './json-web-token.ts'
import type { MailPlanner } from './mail-plan.ts'
import type { MessageGaps } from './message-gaps.ts'
import type { OneTimeTokens } from './one-time-tokens.ts'
import type { AccountKeys } from './password-attempts.ts'
import type { PasswordPolicy } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Readiness } from './readiness.ts'
import type { Redirects } from './redirects.ts'
import type { RequestLimits } from './request-limits.ts'
import type { SecretBox } from './secret-box.ts'
import type { Sessions } from './sessions.ts'
import type { SignInLog } from './sign-in-log.ts'
import type { SigningKeys } from './signing-keys.ts'

/** What endpoints work with. `app.ts` makes it once. */
export interface Services {
  readonly config: Config
  readonly version: string
  readonly db: Database
  readonly signer: TokenSigner
  readonly signingKeys: SigningKeys
  readonly sessions: Sessions
  readonly passwords: Passwords
  readonly passwordPolicy: PasswordPolicy
  /** Undefined: everybody may be a program. */
  readonly captcha: Captcha | undefined
  readonly oneTimeTokens: OneTimeTokens
  readonly decoyIds: DecoyIds
  readonly messageGaps: MessageGaps
  readonly factorSecrets: SecretBox
  readonly providers: ExternalProviders
  readonly hooks: Hooks
  readonly readiness: Readiness
  readonly redirects: Redirects
  readonly requestLimits: RequestLimits
  readonly guesses: Guesses
  readonly accountKeys: AccountKeys
  readonly mail: MailPlanner
  /** Tells the sender that a message waits. */
  readonly wakeMessages: () => void
  readonly signInLog: SignInLog
  /** When this server started: with several processes, the first of them. Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}
