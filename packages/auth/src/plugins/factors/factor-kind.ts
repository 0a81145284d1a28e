import type { Check } from '@portcullis/service-kit/settings/config-check'
import type { Settings, Variable, Variables } from '@portcullis/service-kit/settings/env'
import type { RelyingParty } from '../../config/passkeys.ts'
import { withOldNames } from '../../config/variables.ts'
import type { Queries } from '../../db/database.ts'
import type { ErrorCode } from '../../errors.ts'
import type { TriedChallenge } from '../../features/factors/statements/verification.ts'
import type { FactorRow, UserRow } from '../../features/users/statements/user-row.ts'
import type { GatewayCodes } from '../../messages/requests/gateway-codes.ts'
import type { TextSettings } from '../../messages/requests/phone-gateway.ts'
import type { NewMessage } from '../../messages/statements/request-parts.ts'
import type { Metadata } from '../../stored-json.ts'
import type { OneTimeTokens } from '../../tokens/one-time-tokens.ts'
import type { SecretBox } from '../../tokens/secret-box.ts'

/**
 * The services that factor kinds use. `Services` cannot be imported here, because it imports the
 * settings of the kinds.
 */
export interface FactorServices {
  readonly config: TextSettings['config'] & {
    readonly site: { readonly url: string }
    readonly mfa: { readonly challengeExpiresInMs: number }
    readonly passkeys: { readonly relyingParty: RelyingParty }
  }
  readonly db: Queries
  readonly oneTimeTokens: OneTimeTokens
  readonly factorSecrets: SecretBox
  readonly gatewayCodes: GatewayCodes | undefined
  readonly now: () => number
}

/** The variables that every kind has. Each variable also gets its GOTRUE_ name. */
export interface FactorVariables extends Variables {
  readonly enroll: Variable<boolean>
  readonly verify: Variable<boolean>
}

/** What else must be configured before the kind works. */
export type FactorNeed = 'text messages' | 'relying party'

/**
 * A kind of second factor: what is stored for it, what a challenge contains, and how an answer is
 * checked. Everything else (names, limits, assurance levels, sessions, the audit log) is the same
 * for all kinds. To add a kind, add a file and a line in `index.ts`, and a migration: the
 * constraint `mfa_factors_type_check` also lists the kinds.
 */
export interface FactorKind<V extends FactorVariables = FactorVariables> {
  /** The name used in messages. */
  readonly label: string
  /** The method in the `amr` claim of a session. */
  readonly method: string
  readonly codes: { readonly enroll: ErrorCode; readonly verify: ErrorCode }
  /** The error message for a wrong answer. */
  readonly wrongAnswer: string
  /** Whether an attacker could guess a correct answer, so that attempts must be limited. */
  readonly isGuessable: boolean
  readonly variables: V
  readonly needs?: FactorNeed
  /** Validates and corrects the settings of the kind. */
  toSettings?(settings: Settings<V>, variables: V, check: Check): Settings<V>
  /** @throws {ApiError} */
  enroll(services: FactorServices, request: EnrollRequest): Promise<FactorDraft> | FactorDraft
  /** May read the factor's secrets with `findFactorSecrets`. @throws {ApiError} */
  challenge(
    services: FactorServices,
    request: ChallengeRequest,
    settings: Settings<V>,
  ): Promise<ChallengeDraft> | ChallengeDraft
  /** Rejects malformed answers before they count as an attempt. @throws {ApiError} */
  checkForm(answer: FactorAnswer): void
  /** Returns undefined when the answer is wrong. */
  check(services: FactorServices, attempt: Attempt): Promise<Proof | undefined> | Proof | undefined
}

/** Infers the type of the settings that the methods receive from `variables`. */
export function defineFactorKind<V extends FactorVariables>(kind: FactorKind<V>): FactorKind<V> {
  return { ...kind, variables: withOldNames(kind.variables) }
}

interface EnrollRequest {
  readonly factorId: string
  readonly user: UserRow
  readonly issuer: string | undefined
  readonly phone: string | undefined
}

/** The data of a new factor. */
interface FactorDraft {
  /** Encrypted. */
  readonly secret?: Buffer
  readonly phone?: string
  /** Returned once to the user, with id, type and name, and never stored in clear. */
  readonly shown: Metadata
}

export interface ChallengeRequest {
  readonly challengeId: string
  readonly user: UserRow
  readonly factor: FactorRow
  readonly channel: string | undefined
  /** The unvalidated `webauthn` field of the body. */
  readonly webauthn: unknown
}

interface ChallengeDraft {
  readonly otpHash?: Buffer
  readonly webAuthnData?: Metadata
  /** A text message; `cooldownMs` is the minimum interval since the previous one. */
  readonly message?: NewMessage
  readonly cooldownMs?: number
  /** Returned to the user, with id, type and expiry. */
  readonly shown: Metadata
}

export interface FactorAnswer {
  readonly code: string
  /** The unvalidated `webauthn` field of the body. */
  readonly webauthn: unknown
}

export interface Attempt {
  readonly challengeId: string
  readonly user: UserRow
  readonly factor: FactorRow
  readonly answer: FactorAnswer
  /** Includes the factor's secrets. */
  readonly challenge: TriedChallenge
}

/** What a correct answer changes in the database. */
export interface Proof {
  /** The TOTP time step. The database decides whether it has been used before. */
  readonly step?: number
  /** The updated WebAuthn credential. */
  readonly credential?: Metadata
  readonly aaguid?: string
}
