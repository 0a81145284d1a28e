import type { Check } from '@portcullis/service-kit/config-check'
import type { Settings, Variable, Variables } from '@portcullis/service-kit/env'
import type { RelyingParty } from '../../config/passkeys.ts'
import { withOldNames } from '../../config/variables.ts'
import type { Queries } from '../../db/database.ts'
import type { ErrorCode } from '../../errors.ts'
import type { TriedChallenge } from '../../features/factors/statements/verification.ts'
import type { OneTimeTokens } from '../../features/one-time-codes/one-time-tokens.ts'
import type { Metadata } from '../../features/users/metadata.ts'
import type { FactorRow, UserRow } from '../../features/users/statements/user-row.ts'
import type { TextSettings } from '../../messages/requests/phone-gateway.ts'
import type { NewMessage } from '../../messages/statements/request-parts.ts'
import type { SecretBox } from '../../tokens/secret-box.ts'

/** The services that kinds work with. `Services` has them all, but imports the settings of the kinds. */
export interface FactorServices {
  readonly config: TextSettings['config'] & {
    readonly site: { readonly url: string }
    readonly mfa: { readonly challengeExpiresInMs: number }
    readonly passkeys: { readonly relyingParty: RelyingParty }
  }
  readonly db: Queries
  readonly oneTimeTokens: OneTimeTokens
  readonly factorSecrets: SecretBox
  readonly now: () => number
}

/** What all kinds can be switched by; each variable also gets its GOTRUE_ name. */
export interface FactorVariables extends Variables {
  /** Whether users may add such factors. */
  readonly enroll: Variable<boolean>
  /** Whether such factors are accepted. */
  readonly verify: Variable<boolean>
}

/** What has to be configured besides the kind itself. */
export type FactorNeed = 'text messages' | 'relying party'

/**
 * A kind of second factor: what is stored of it, what a challenge asks, and whether an answer is right.
 * Everything else (names, limits, levels, sessions, the audit log) is the same for all kinds. A kind is
 * one file and one line of `index.ts`. The constraint `mfa_factors_type_check` lists the kinds as well, so a
 * new kind also needs a migration.
 */
export interface FactorKind<V extends FactorVariables = FactorVariables> {
  /** As messages call it. */
  readonly label: string
  /** What a session says of it: the method in the amr. */
  readonly method: string
  readonly codes: { readonly enroll: ErrorCode; readonly verify: ErrorCode }
  /** The error message for a wrong answer. */
  readonly wrongAnswer: string
  /** Whether the right answer can be found by guessing. */
  readonly isGuessable: boolean
  readonly variables: V
  readonly needs?: FactorNeed
  /** Checks and corrects the settings of the kind. */
  toSettings?(settings: Settings<V>, variables: V, check: Check): Settings<V>
  /** @throws {ApiError} */
  enroll(services: FactorServices, ask: EnrollAsk): Promise<FactorDraft> | FactorDraft
  /** May read more of the factor with `findFactorSecrets`. @throws {ApiError} */
  challenge(
    services: FactorServices,
    ask: ChallengeAsk,
    settings: Settings<V>,
  ): Promise<ChallengeDraft> | ChallengeDraft
  /** Rejects a malformed answer before it counts as an attempt. @throws {ApiError} */
  checkForm(answer: FactorAnswer): void
  /** Undefined: it is wrong. */
  check(services: FactorServices, attempt: Attempt): Promise<Proof | undefined> | Proof | undefined
}

/** Infers the settings that the methods get from `variables`. */
export function defineFactorKind<V extends FactorVariables>(kind: FactorKind<V>): FactorKind<V> {
  return { ...kind, variables: withOldNames(kind.variables) }
}

interface EnrollAsk {
  readonly factorId: string
  readonly user: UserRow
  readonly issuer: string | undefined
  readonly phone: string | undefined
}

/** What is stored of a new factor. */
interface FactorDraft {
  /** Encrypted. */
  readonly secret?: Buffer
  readonly phone?: string
  /** Goes to the user, beside id, type and name; and nowhere else. */
  readonly shown: Metadata
}

export interface ChallengeAsk {
  readonly challengeId: string
  readonly user: UserRow
  readonly factor: FactorRow
  readonly channel: string | undefined
  /** The field `webauthn` of the body, as it came. */
  readonly webauthn: unknown
}

interface ChallengeDraft {
  readonly otpHash?: Buffer
  readonly webAuthnData?: Metadata
  /** A text message, and how long after the last one. */
  readonly message?: NewMessage
  readonly gapMs?: number
  /** Goes to the user, beside id, type and end. */
  readonly shown: Metadata
}

export interface FactorAnswer {
  readonly code: string
  /** The field `webauthn` of the body, as it came. */
  readonly webauthn: unknown
}

export interface Attempt {
  readonly challengeId: string
  readonly user: UserRow
  readonly factor: FactorRow
  readonly answer: FactorAnswer
  /** With the secrets of the factor. */
  readonly challenge: TriedChallenge
}

/** What an answer that is right leaves behind. */
export interface Proof {
  /** Of TOTP. The database has the last word on whether it is new. */
  readonly step?: number
  /** Of WebAuthn: the credential as it is from now on. */
  readonly credential?: Metadata
  readonly aaguid?: string
}
