import { randomUUID } from 'node:crypto'
import {
  type EffectName,
  type Verdict,
  type VerdictRow,
  type Verification,
  verifications,
} from '../db/one-time-tokens.ts'
import type { SessionRow } from '../db/sessions.ts'
import { isTaken } from '../db/violations.ts'
import { ApiError, invalid } from '../errors.ts'
import { type AuditAction, auditActions } from './audit.ts'
import { mostAttempts, type OneTimeTokenType, pkcePrefix } from './one-time-tokens.ts'
import type { Services } from './services.ts'
import type { Client, TokenResponse } from './sessions.ts'
import { createUnusableHash } from './unusable-hash.ts'

interface EmailVerification {
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
} as const satisfies Record<string, EmailVerification>
export type EmailVerificationType = keyof typeof emailVerifications

export function isEmailVerification(type: string): type is EmailVerificationType {
  return Object.hasOwn(emailVerifications, type)
}

/** What somebody shows: the token of a link, or the digits that were sent to an address. */
export type Proof =
  | { readonly how: 'link'; readonly token: string }
  | {
      readonly how: 'digits'
      readonly digits: string
      readonly email: string
      readonly audience: string
    }

export interface VerifyInput {
  readonly type: EmailVerificationType
  readonly proof: Proof
  /** Whether a link of a PKCE flow leads to a code; otherwise to tokens, as all else does. */
  readonly wantsCode: boolean
  /** Where a password belongs into the request of a user who has none (D9). */
  readonly asksPassword: boolean
  /** Checked already; undefined: none was sent. */
  readonly password: string | undefined
  readonly client: Client
}

export type Verified =
  | { readonly outcome: 'tokens'; readonly type: string; readonly tokens: TokenResponse }
  | { readonly outcome: 'code'; readonly code: string }
  /** The other address must confirm as well. */
  | { readonly outcome: 'half' }

export const halfMessage =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email'

/** Reference 3.6. One statement, and a second one where a password is set. @throws {ApiError} */
export async function verifyEmail(services: Services, input: VerifyInput): Promise<Verified> {
  const { type, password } = input
  const { effect, methods } = emailVerifications[type]
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
  if (row.auth_code !== null) return { outcome: 'code', code: row.auth_code }
  if (!hasSession(row)) throw new TypeError(`${effect} has opened no session`)
  return {
    outcome: 'tokens',
    type: toEffectiveType(methods, row.token_type),
    tokens: services.sessions.toTokenResponse(row),
  }
}

async function runVerification(
  { db }: Services,
  { type, proof }: VerifyInput,
  verification: Verification,
): Promise<VerdictRow | undefined> {
  const statement = verifications[emailVerifications[type].effect][proof.how]
  try {
    return (await db.run<VerdictRow>(statement, [verification]))[0]
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    // Since the change was asked for, somebody else has registered with the new address.
    const message = 'A user with this email address has already been registered'
    throw new ApiError('email_exists', message)
  }
}

function toVerification(services: Services, input: VerifyInput): Verification {
  const { config, now: readClock } = services
  const { type, proof, wantsCode, client, password } = input
  const { effect, methods } = emailVerifications[type]
  const nowMs = readClock()
  return {
    now: new Date(nowMs),
    ip: client.ip,
    user_agent: client.userAgent,
    methods,
    ...toProof(services, proof),
    most_attempts: mostAttempts,
    needs_password: input.asksPassword || password !== undefined,
    new_hash: type === 'invite' ? createUnusableHash() : null,
    is_double: config.mail.secureEmailChange && !config.mail.autoconfirm,
    session: wantsCode
      ? null
      : {
          id: randomUUID(),
          amr: [{ method: 'otp', timestamp: Math.floor(nowMs / 1_000) }],
          is_recovery: type === 'recovery',
        },
    audit: { id: randomUUID(), ...toAudit(effect, wantsCode) },
    identity_id: randomUUID(),
  }
}

function toProof({ oneTimeTokens }: Services, proof: Proof) {
  const none = { token_hash: null, is_pkce: false, otp_hash: null, relates_to: null, aud: null }
  if (proof.how === 'link') {
    const { token } = proof
    return {
      ...none,
      token_hash: oneTimeTokens.hashLink(token).toString('hex'),
      // Who takes the prefix off must not get tokens where a code was meant.
      is_pkce: token.startsWith(pkcePrefix),
    }
  }
  const { digits, email, audience } = proof
  return {
    ...none,
    otp_hash: oneTimeTokens.hashDigits(digits, email).toString('hex'),
    relates_to: email,
    aud: audience,
  }
}

function toAudit(effect: EffectName, wantsCode: boolean) {
  const part = (action: AuditAction) => ({ action, log_type: auditActions[action] })
  if (effect === 'change') return { first: part('user_modified'), later: part('user_modified') }
  // With a code nobody has signed in yet: its exchange will say so.
  return { first: part('user_signedup'), later: wantsCode ? null : part('login') }
}

function hasSession(row: VerdictRow): row is VerdictRow & SessionRow {
  return row.session_id !== null
}

/** `email` stands for whichever token there was. */
function toEffectiveType(methods: EmailVerification['methods'], tokenType: string): string {
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
function expired({ proof }: VerifyInput): ApiError {
  return new ApiError(
    'otp_expired',
    proof.how === 'link'
      ? 'Email link is invalid or has expired'
      : 'Token has expired or is invalid',
  )
}
