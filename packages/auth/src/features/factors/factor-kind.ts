import type { FactorSwitch, MfaConfig } from '../../config/mfa.ts'
import type { ErrorCode } from '../../errors.ts'
import type { NewMessage } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../users/metadata.ts'
import type { FactorRow, UserRow } from '../users/statements/user-row.ts'
import type { TriedChallenge } from './statements/verification.ts'

/**
 * A kind of second factor: what is stored of it, what a challenge asks, and whether an answer is right.
 * Everything else (names, limits, levels, sessions, the audit log) is the same for all kinds. A kind is
 * one file and one line of `index.ts`.
 */
export interface FactorKind {
  /** As messages call it. */
  readonly label: string
  /** What a session says of it: the method in the amr. */
  readonly method: string
  readonly codes: { readonly enroll: ErrorCode; readonly verify: ErrorCode }
  /** What a wrong answer is told. */
  readonly wrongAnswer: string
  /** Whether somebody could hit a right answer by guessing. */
  readonly isGuessable: boolean
  findSwitch(config: MfaConfig): FactorSwitch
  /** @throws {ApiError} */
  enroll(services: Services, ask: EnrollAsk): FactorDraft
  /** May read more of the factor with `findFactorSecrets`. @throws {ApiError} */
  challenge(services: Services, ask: ChallengeAsk): Promise<ChallengeDraft> | ChallengeDraft
  /** Refuses what is no answer at all, before it counts as an attempt. @throws {ApiError} */
  checkForm(answer: FactorAnswer): void
  /** Undefined: it is wrong. */
  check(services: Services, attempt: Attempt): Promise<Proof | undefined> | Proof | undefined
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
