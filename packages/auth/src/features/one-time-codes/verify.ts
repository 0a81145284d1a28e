import { randomUUID } from 'node:crypto'
import type { NotificationKind } from '../../config/mail-messages.ts'
import { ApiError, invalid } from '../../errors.ts'
import { draftNotice } from '../../messages/requests/notifications.ts'
import type { Services } from '../../services.ts'
import { type AuditAction, auditActions, createAuditId } from '../audit/audit.ts'
import { notingFailure } from '../audit/sign-in-log.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import type { SessionRow } from '../sessions/statements/sessions.ts'
import { toTakenError } from '../users/addresses.ts'
import { mostAttempts, type OneTimeTokenType, pkcePrefix } from './one-time-tokens.ts'
import type { EffectName } from './statements/verification-effects.ts'
import {
  type Verdict,
  type VerdictRow,
  type Verification,
  type VerificationStatement,
  verifications,
} from './statements/verify.ts'

interface VerificationRule {
  readonly effect: EffectName
  /** The tokens it takes, and how a PKCE flow calls what the user has done then (reference 6.3). */
  readonly methods: Readonly<Partial<Record<OneTimeTokenType, string>>>
}

/** By `type`. */
export const emailVerifications = {
  signup: { effect: 'confirm', methods: { confirmation: 'email/signup' } },
  invite: { effect: 'confirm', methods: { confirmation: 'invite' } },
  recovery: { effect: 'confirm', methods: { recovery: 'recovery' } },
  magiclink: { effect: 'confirm', methods: { recovery: 'magiclink' } },
  email: {
    effect: 'confirm',
    methods: { confirmation: 'email/signup', recovery: 'magiclink' },
  },
  email_change: {
    effect: 'change',
    methods: { email_change_current: 'email_change', email_change_new: 'email_change' },
  },
} as const satisfies Record<string, VerificationRule>
export type EmailVerificationType = keyof typeof emailVerifications

const phoneVerifications = {
  sms: { effect: 'confirm_phone', methods: { phone_confirmation: 'sms' } },
  phone_change: { effect: 'change_phone', methods: { phone_change: 'phone_change' } },
} as const satisfies Record<string, VerificationRule>
export type PhoneVerificationType = keyof typeof phoneVerifications

const rules = { ...emailVerifications, ...phoneVerifications }

export function isEmailVerification(type: string): type is EmailVerificationType {
  return Object.hasOwn(emailVerifications, type)
}

export function isPhoneVerification(type: string): type is PhoneVerificationType {
  return Object.hasOwn(phoneVerifications, type)
}

interface DigitsProof {
  readonly how: 'digits'
  readonly digits: string
  /** The address or number they were sent to. */
  readonly recipient: string
  readonly audience: string
}

/** What somebody shows: the token of a link, or the digits that were sent to an address. */
export type Proof = { readonly how: 'link'; readonly token: string } | DigitsProof

interface Verifying {
  readonly type: keyof typeof rules
  readonly proof: Proof
  /** Whether a link of a PKCE flow leads to a code; otherwise to tokens, as all else does. */
  readonly wantsCode: boolean
  /** Where a password belongs into the request of a user who has none (D9). */
  readonly asksPassword: boolean
  /** Checked already; undefined: none was sent. */
  readonly password: string | undefined
  readonly client: Client
}

export interface VerifyInput extends Verifying {
  readonly type: EmailVerificationType
}

export interface VerifyPhoneInput extends Pick<Verifying, 'client'> {
  readonly type: PhoneVerificationType
  readonly proof: DigitsProof
}

export type Verified =
  | { readonly outcome: 'tokens'; readonly type: string; readonly tokens: TokenResponse }
  | { readonly outcome: 'code'; readonly code: string }
  /** The other address must confirm as well. */
  | { readonly outcome: 'half' }
  /** The address has changed, and nobody is signed in. */
  | { readonly outcome: 'changed' }

/** What is said where nobody is signed in. */
export const verifyMessages = {
  half: 'Confirmation link accepted. Please proceed to confirm link sent to the other email',
  changed: 'Confirmation link accepted. The email address has been changed',
} as const

/** Reference 3.6. One statement, and a second one where a password is set. @throws {ApiError} */
export function verifyEmail(services: Services, input: VerifyInput): Promise<Verified> {
  return verify(services, input)
}

/** Digits of a text message. One statement. @throws {ApiError} */
export function verifyPhone(services: Services, input: VerifyPhoneInput): Promise<Verified> {
  return verify(services, { ...input, wantsCode: false, asksPassword: false, password: undefined })
}

function verify(services: Services, input: Verifying): Promise<Verified> {
  const { type, proof, client } = input
  const isSignIn = type !== 'email_change' && type !== 'phone_change'
  // A link names no address, and most links that fail were opened twice.
  if (proof.how === 'link' || !isSignIn) return verifyProof(services, input)
  const found = { name: proof.recipient, audience: proof.audience, userId: undefined }
  return notingFailure(services.signInLog, { ...found, ip: client.ip }, () =>
    verifyProof(services, input),
  )
}

async function verifyProof(services: Services, input: Verifying): Promise<Verified> {
  const { type, password } = input
  const { effect, methods } = rules[type]
  const run = (change: Partial<Verification>) =>
    runVerification(services, input, { ...toVerification(services, input), ...change })
  let row = await run({})
  if (row?.verdict === 'no password' && password !== undefined) {
    const hash = await services.passwords.hash(password)
    row = await run({ needs_password: false, new_hash: hash })
  }
  if (row === undefined) throw expired(input)
  const problem = problems[row.verdict]
  if (problem !== undefined) throw problem()
  // Somebody else was faster with the same token.
  if (row.consumed_type === null) throw expired(input)
  if (row.verdict === 'half') return { outcome: 'half' }
  if (draftOf(services, effect)) services.wakeMessages()
  if (row.auth_code !== null) return { outcome: 'code', code: row.auth_code }
  if (!hasSession(row)) {
    if (row.consumed_type === 'email_change_new') return { outcome: 'changed' }
    throw new TypeError(`${effect} has opened no session`)
  }
  const tokens = await services.sessions.toTokenResponse(row, input.client)
  services.signInLog.countSignIn()
  return { outcome: 'tokens', type: toEffectiveType(methods, row.token_type), tokens }
}

async function runVerification(
  { db }: Services,
  { type, proof }: Verifying,
  verification: Verification,
): Promise<VerdictRow | undefined> {
  const statements: Readonly<Partial<Record<Proof['how'], VerificationStatement>>> =
    verifications[rules[type].effect]
  const statement = statements[proof.how]
  if (statement === undefined) throw new TypeError(`${type} takes no ${proof.how}`)
  try {
    return (await db.run(statement, verification))[0]
  } catch (error) {
    // Since the change was asked for, somebody else has registered with the address or number.
    throw toTakenError(error, 'own')
  }
}

function toVerification(services: Services, input: Verifying): Verification {
  const { config, passwords, now: readClock } = services
  const { type, proof, wantsCode, client, password } = input
  const { effect, methods } = rules[type]
  const nowMs = readClock()
  return {
    now: new Date(nowMs),
    ip: client.ip,
    user_agent: client.userAgent,
    methods,
    ...toProof(services, proof),
    most_attempts: mostAttempts,
    needs_password: input.asksPassword || password !== undefined,
    new_hash: type === 'invite' ? passwords.createUnusable() : null,
    offers_password: password !== undefined,
    void_hash: services.passwords.createUnusable(),
    is_double: config.mail.secureEmailChange && !config.mail.autoconfirm,
    session: wantsCode
      ? null
      : {
          id: randomUUID(),
          amr: [{ method: 'otp', timestamp: Math.floor(nowMs / 1_000) }],
          is_recovery: type === 'recovery',
          tag: client.tag ?? null,
        },
    audit: { id: createAuditId(), ...toAudit(effect, wantsCode) },
    identity_id: randomUUID(),
    notice: draftOf(services, effect),
  }
}

const notices: Readonly<Partial<Record<EffectName, NotificationKind>>> = {
  change: 'email_changed',
  change_phone: 'phone_changed',
}

function draftOf(services: Services, effect: EffectName) {
  const { [effect]: kind } = notices
  return kind === undefined ? null : draftNotice(services, kind)
}

function toProof({ oneTimeTokens, messageGaps }: Services, proof: Proof) {
  const none = {
    token_hash: null,
    is_pkce: false,
    otp_hashes: null,
    relates_to: null,
    aud: null,
    attempts_key: null,
  }
  if (proof.how === 'link') {
    const { token } = proof
    return {
      ...none,
      token_hash: oneTimeTokens.hashLink(token).toString('hex'),
      // Who takes the prefix off must not get tokens where a code was meant.
      is_pkce: token.startsWith(pkcePrefix),
    }
  }
  const { digits, recipient, audience } = proof
  return {
    ...none,
    otp_hashes: oneTimeTokens.findHashes(digits, recipient),
    relates_to: recipient,
    aud: audience,
    attempts_key: messageGaps.toKey({ clock: 'code', audience, name: recipient }),
  }
}

function toAudit(effect: EffectName, wantsCode: boolean) {
  const part = (action: AuditAction) => ({ action, log_type: auditActions[action] })
  if (effect === 'change' || effect === 'change_phone') {
    return { first: part('user_modified'), later: part('user_modified') }
  }
  // With a code nobody has signed in yet: its exchange will say so.
  return { first: part('user_signedup'), later: wantsCode ? null : part('login') }
}

function hasSession(row: VerdictRow): row is VerdictRow & SessionRow {
  return row.session_id !== null
}

/** `email` stands for whichever token there was. */
function toEffectiveType(methods: VerificationRule['methods'], tokenType: string): string {
  const method = Object.entries(methods).find(([name]) => name === tokenType)?.[1] ?? ''
  return method === 'email/signup' ? 'signup' : method
}

const problems: Readonly<Partial<Record<Verdict, () => ApiError>>> = {
  banned: () => new ApiError('user_banned', 'User is banned'),
  'no password': () => invalid('Signup verification requires a password', { status: 422 }),
  'no flow': () =>
    new ApiError('flow_state_not_found', 'invalid flow state, no valid flow state found'),
}

/** The same for what is unknown, wrong, used or over. */
function expired({ proof }: Verifying): ApiError {
  return new ApiError(
    'otp_expired',
    proof.how === 'link'
      ? 'Email link is invalid or has expired'
      : 'Token has expired or is invalid',
  )
}
