import { randomUUID } from 'node:crypto'
import type { NotificationKind } from '../../config/mail/messages.ts'
import { ApiError, invalid } from '../../errors.ts'
import { draftNotice } from '../../messages/requests/notifications.ts'
import { findTextHashes } from '../../messages/requests/phone-codes.ts'
import type { Services } from '../../services.ts'
import { mostAttempts, type OneTimeTokenType, pkcePrefix } from '../../tokens/one-time-tokens.ts'
import { createAuditId, toAuditPart } from '../audit/audit.ts'
import { notingFailure } from '../audit/sign-in-log.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import type { SessionRow } from '../sessions/statements/sessions.ts'
import { toTakenError } from '../users/taken-errors.ts'
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
  /** The accepted token types, with the authentication method of each in a PKCE flow. */
  readonly methods: Readonly<Partial<Record<OneTimeTokenType, string>>>
}

/** The rules by the `type` of the request. */
const emailVerifications = {
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
  /** The address or phone number to which the digits were sent. */
  readonly recipient: string
  readonly audience: string
}

/** The token of a link, or the digits that were sent to an address or phone number. */
export type Proof = { readonly how: 'link'; readonly token: string } | DigitsProof

interface VerificationInput {
  readonly type: keyof typeof rules
  readonly proof: Proof
  /** Whether the link of a PKCE flow leads to a code instead of tokens. */
  readonly wantsCode: boolean
  /** Whether a user without a password must send one. */
  readonly requiresPassword: boolean
  /** Already checked; undefined when none was sent. */
  readonly password: string | undefined
  readonly client: Client
}

export interface VerifyInput extends VerificationInput {
  readonly type: EmailVerificationType
}

export interface VerifyPhoneInput extends Pick<VerificationInput, 'client'> {
  readonly type: PhoneVerificationType
  readonly proof: DigitsProof
}

export type Verified =
  | { readonly outcome: 'tokens'; readonly type: string; readonly tokens: TokenResponse }
  | { readonly outcome: 'code'; readonly code: string }
  /** The other address must confirm as well. */
  | { readonly outcome: 'half' }
  /** The address has changed, and no session was opened. */
  | { readonly outcome: 'changed' }

/** The messages for outcomes without a session. */
export const verifyMessages = {
  half: 'Confirmation link accepted. Please proceed to confirm link sent to the other email',
  changed: 'Confirmation link accepted. The email address has been changed',
} as const

/** Verifies an email link or code. @throws {ApiError} */
export function verifyEmail(services: Services, input: VerifyInput): Promise<Verified> {
  return verify(services, input)
}

/** Verifies the digits of a text message. @throws {ApiError} */
export function verifyPhone(services: Services, input: VerifyPhoneInput): Promise<Verified> {
  return verify(services, {
    ...input,
    wantsCode: false,
    requiresPassword: false,
    password: undefined,
  })
}

function verify(services: Services, input: VerificationInput): Promise<Verified> {
  const { type, proof, client } = input
  const isSignIn = type !== 'email_change' && type !== 'phone_change'
  // Failed links are not logged: they name no address, and most of them were just opened twice.
  if (proof.how === 'link' || !isSignIn) return verifyProof(services, input)
  const found = { name: proof.recipient, audience: proof.audience, userId: undefined }
  return notingFailure(services.signInLog, { ...found, ip: client.ip }, () =>
    verifyProof(services, input),
  )
}

async function verifyProof(services: Services, input: VerificationInput): Promise<Verified> {
  const { type, password } = input
  const { effect, methods } = rules[type]
  const proof = await toProof(services, input)
  const run = (change: Partial<Verification>) =>
    runVerification(services, input, { ...toVerification(services, input, proof), ...change })
  let row = await run({})
  if (row?.verdict === 'no password' && password !== undefined) {
    const hash = await services.passwords.hash(password)
    row = await run({ needs_password: false, new_hash: hash.toStored(row.owner_id) })
  }
  if (row === undefined) throw expired(input)
  const problem = problems[row.verdict]
  if (problem !== undefined) throw problem()
  // A concurrent request used the same token.
  if (row.consumed_type === null) throw expired(input)
  if (row.verdict === 'half') return { outcome: 'half' }
  if (draftOf(services, effect)) services.wakeMessages()
  if (row.auth_code !== null) return { outcome: 'code', code: row.auth_code }
  if (!hasSession(row)) {
    if (row.consumed_type === 'email_change_new') return { outcome: 'changed' }
    throw new TypeError(`${effect} did not open a session`)
  }
  const tokens = await services.sessions.toTokenResponse(row, input.client)
  services.signInLog.countSignIn()
  return { outcome: 'tokens', type: toEffectiveType(methods, row.token_type), tokens }
}

async function runVerification(
  { db }: Services,
  { type, proof }: VerificationInput,
  verification: Verification,
): Promise<VerdictRow | undefined> {
  const statements: Readonly<Partial<Record<Proof['how'], VerificationStatement>>> =
    verifications[rules[type].effect]
  const statement = statements[proof.how]
  if (statement === undefined) throw new TypeError(`${type} does not accept ${proof.how}`)
  try {
    return (await db.run(statement, verification))[0]
  } catch (error) {
    // Another user has registered the address or phone number since the change was requested.
    throw toTakenError(error, 'own')
  }
}

function toVerification(
  services: Services,
  input: VerificationInput,
  proof: Awaited<ReturnType<typeof toProof>>,
): Verification {
  const { config, passwords, now: readClock } = services
  const { type, wantsCode, client, password } = input
  const { effect, methods } = rules[type]
  const nowMs = readClock()
  return {
    now: new Date(nowMs),
    ip: client.ip,
    user_agent: client.userAgent,
    methods,
    ...proof,
    most_attempts: mostAttempts,
    needs_password: input.requiresPassword || password !== undefined,
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

async function toProof(services: Services, { type, proof }: VerificationInput) {
  const { oneTimeTokens, cooldownKeys } = services
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
      // A client that removes the prefix must not get tokens instead of a code.
      is_pkce: token.startsWith(pkcePrefix),
    }
  }
  const { digits, recipient, audience } = proof
  return {
    ...none,
    otp_hashes: isPhoneVerification(type)
      ? await findTextHashes(services, digits, recipient)
      : oneTimeTokens.findHashes(digits, recipient),
    relates_to: recipient,
    aud: audience,
    attempts_key: cooldownKeys.toKey({ kind: 'code', audience, name: recipient }),
  }
}

function toAudit(effect: EffectName, wantsCode: boolean) {
  if (effect === 'change' || effect === 'change_phone') {
    return { first: toAuditPart('user_modified'), later: toAuditPart('user_modified') }
  }
  // With a code, the user has not signed in yet; the exchange of the code logs the sign-in.
  return { first: toAuditPart('user_signedup'), later: wantsCode ? null : toAuditPart('login') }
}

function hasSession(row: VerdictRow): row is VerdictRow & SessionRow {
  return row.session_id !== null
}

/** `email` accepts several token types, so the type depends on the token. */
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

/** The same error for unknown, wrong, used and expired tokens. */
function expired({ proof }: VerificationInput): ApiError {
  return new ApiError(
    'otp_expired',
    proof.how === 'link'
      ? 'Email link is invalid or has expired'
      : 'Token has expired or is invalid',
  )
}
