import { ApiError, type ErrorCode } from '../../errors.ts'

/** Why a sign-in failed, as operators see it. The answers to clients do not change. */
export type SignInFailureReason =
  | 'wrong_password'
  | 'wrong_code'
  | 'wrong_passkey'
  | 'unconfirmed'
  | 'banned'
  | 'second_factor'
  | 'limited'

export interface SignInFailure {
  readonly reason: SignInFailureReason
  /** The email address or phone number as it is stored; empty where none was given. */
  readonly name: string
  readonly audience: string
  /** Where the account is known. Otherwise it is looked up by its name later. */
  readonly userId: string | undefined
  readonly ip: string
}

/** Counts sign-ins and keeps failed ones for operators. Neither waits for the database. */
export interface SignInLog {
  countSignIn(): void
  noteFailure(failure: SignInFailure): void
}

export const noSignInLog: SignInLog = { countSignIn: () => {}, noteFailure: () => {} }

const reasons: Readonly<Partial<Record<ErrorCode, SignInFailureReason>>> = {
  invalid_credentials: 'wrong_password',
  otp_expired: 'wrong_code',
  webauthn_verification_failed: 'wrong_passkey',
  email_not_confirmed: 'unconfirmed',
  phone_not_confirmed: 'unconfirmed',
  user_banned: 'banned',
  mfa_verification_failed: 'second_factor',
  mfa_verification_rejected: 'second_factor',
  mfa_challenge_expired: 'second_factor',
  over_request_rate_limit: 'limited',
  mfa_recovery_codes_locked: 'limited',
}

/** Undefined: the error is not about the person who signs in. */
export function toFailureReason(error: unknown): SignInFailureReason | undefined {
  return error instanceof ApiError ? reasons[error.code] : undefined
}

/** Runs a sign-in and notes its failure. `found` is read then: it may name the account by that time. */
export async function notingFailure<Result>(
  log: SignInLog,
  found: Omit<SignInFailure, 'reason'>,
  signIn: () => Promise<Result>,
): Promise<Result> {
  try {
    return await signIn()
  } catch (error) {
    const reason = toFailureReason(error)
    if (reason !== undefined) log.noteFailure({ ...found, reason })
    throw error
  }
}
