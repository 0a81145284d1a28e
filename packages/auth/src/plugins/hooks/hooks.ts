import { ApiError } from '../../errors.ts'
import type { UserRecord } from '../../features/users/user-record.ts'
import type { Claims } from '../../tokens/json-web-token.ts'

/**
 * What operators may have a say in (reference 14). Each is undefined where it is off, and then nothing
 * is done for it. `hooks/` has the ways to ask.
 */
export interface Hooks {
  readonly sendSms: HookCall<SmsToSend, void> | undefined
  readonly sendEmail: HookCall<EmailToSend, void> | undefined
  readonly customAccessToken: HookCall<TokenToIssue, Claims> | undefined
  readonly mfaVerificationAttempt: HookCall<FactorAttempt, Verdict> | undefined
  readonly passwordVerificationAttempt: HookCall<PasswordAttempt, Verdict> | undefined
  readonly beforeUserCreated: HookCall<NewUserNotice, void> | undefined
  readonly afterUserCreated: HookCall<NewUserNotice, void> | undefined
}

/** The hook said no, in its own words: to ask again would not help. */
export class HookRejection extends ApiError {}

/** @throws {ApiError} when nobody answers, or no is the answer. */
export type HookCall<Input extends object, Output> = (
  input: Input,
  occasion: Occasion,
) => Promise<Output>

export interface Occasion {
  /** Of who made the request; empty where nobody knows. */
  readonly ip: string
  /** The same for the same thing told twice; a new one where nothing is said. */
  readonly id?: string
  /** Fires when nobody waits for the answer any more. */
  readonly signal?: AbortSignal
}

export interface SmsToSend {
  readonly user: UserRecord
  readonly sms: { readonly otp: string; readonly sms_type: string; readonly phone: string }
}

export interface EmailToSend {
  readonly user: UserRecord
  readonly email_data: EmailData
}

export interface EmailData {
  readonly token: string
  readonly token_hash: string
  readonly redirect_to: string
  readonly email_action_type: string
  readonly site_url: string
  readonly token_new: string
  readonly token_hash_new: string
  readonly old_email: string
  readonly old_phone: string
  readonly provider: string
  readonly factor_type: string
}

export interface TokenToIssue {
  readonly user_id: string
  readonly claims: Claims
  readonly authentication_method: string
}

export interface FactorAttempt {
  readonly user_id: string
  readonly factor_id: string
  readonly factor_type: string
  readonly valid: boolean
}

export interface PasswordAttempt {
  readonly user_id: string
  readonly valid: boolean
}

export interface NewUserNotice {
  readonly user: UserRecord
}

export interface Verdict {
  readonly isRejected: boolean
  /** What the caller is told; empty: our own words. */
  readonly message: string
  readonly logsUserOut: boolean
}
