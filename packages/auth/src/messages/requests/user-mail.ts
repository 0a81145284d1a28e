import type { Row } from '../../db/database.ts'
import type { ApiError } from '../../errors.ts'
import { type AuditAction, toAuditEntry } from '../../features/audit/audit.ts'
import { findRedirectTarget } from '../../features/redirects/redirect-location.ts'
import { type Challenge, parseChallenge } from '../../features/sessions/pkce.ts'
import type { Client } from '../../features/sessions/sessions.ts'
import { checkAuthorized } from '../../features/users/addresses.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
import type { Call } from '../../http/call.ts'
import type { Services } from '../../services.ts'
import {
  askEmailCap,
  type DeferredKind,
  deferEmail,
  type PermitValues,
} from '../statements/message-gaps.ts'
import { messageRequests } from '../statements/request-message.ts'
import type { AccountClaim } from '../statements/request-parts.ts'
import type { MailRequest } from './mail-plan.ts'
import {
  findRefusal,
  type GapClock,
  type GapParts,
  noGap,
  type Refusal,
  runGapped,
  toCapError,
  toCapParts,
  toGapParts,
  toPermitValues,
} from './message-gaps.ts'

/** A client's request for a message to an email address; clients need not be authenticated. */
export interface MailAsk {
  readonly email: string
  readonly audience: string
  readonly client: Client
  readonly challenge: Challenge | undefined
  /** Already validated. */
  readonly redirectTo: string
  readonly externalUrl: string
}

export interface UserMail {
  readonly kind: MailRequest['kind']
  readonly tokenType: 'confirmation' | 'recovery'
  /** The column with the time of the last message. */
  readonly sentAt: 'confirmation_sent_at' | 'recovery_sent_at'
  readonly authenticationMethod: string
  readonly action: AuditAction
  /** Undefined: the cooldown was already checked. */
  readonly wait: MailWait | undefined
}

/** The same message for a request that `deferMail` has stored. */
export function afterWait(mail: UserMail): UserMail {
  return { ...mail, wait: undefined }
}

/** The cooldown that applies to a message. */
export interface MailWait {
  readonly clock: GapClock
  readonly gap: 'gapMs' | 'magicLinkGapMs'
}

/** The cooldown depends only on the request, so that it reveals nothing about accounts. */
export const mailWaits = {
  confirmation: { clock: 'confirmation', gap: 'gapMs' },
  recovery: { clock: 'recovery', gap: 'gapMs' },
  magicLink: { clock: 'magic_link', gap: 'magicLinkGapMs' },
  emailChange: { clock: 'email_change', gap: 'gapMs' },
} as const satisfies Record<string, MailWait>

export const userMails = {
  confirmation: {
    kind: 'confirmation',
    tokenType: 'confirmation',
    sentAt: 'confirmation_sent_at',
    authenticationMethod: 'email/signup',
    action: 'user_confirmation_requested',
    wait: mailWaits.confirmation,
  },
  recovery: {
    kind: 'recovery',
    tokenType: 'recovery',
    sentAt: 'recovery_sent_at',
    authenticationMethod: 'recovery',
    action: 'user_recovery_requested',
    wait: mailWaits.recovery,
  },
  magicLink: {
    kind: 'magic_link',
    tokenType: 'recovery',
    sentAt: 'recovery_sent_at',
    authenticationMethod: 'magiclink',
    action: 'user_recovery_requested',
    wait: mailWaits.magicLink,
  },
} as const satisfies Record<string, UserMail>

/**
 * Sends a message to a user. @throws {ApiError} during the cooldown of the address, or if no email
 * may be sent. `mailNobody` returns the same errors for an address without a user.
 */
export async function mailUser(
  services: Services,
  ask: MailAsk,
  user: UserRow,
  mail: UserMail,
  claim: AccountClaim,
): Promise<void> {
  const refusal = await tryToMail(services, ask, user, mail, claim)
  if (refusal !== undefined) throw refusal.error
}

/** Like `mailUser`. @returns why the message was not sent; undefined if it was sent. */
export async function tryToMail(
  services: Services,
  ask: MailAsk,
  user: UserRow,
  mail: UserMail,
  claim: AccountClaim,
): Promise<Refusal | undefined> {
  const { db, config } = services
  const now = new Date(services.now())
  const { token, flow, message } = services.mail.plan(toMailRequest(ask, mail))
  const gap = mail.wait === undefined ? noGap : toMailGap(services, ask, mail.wait)
  const sent = await runGapped(db, messageRequests[mail.sentAt], {
    user_id: user.id,
    own_gap_seconds: null,
    invited_at: null,
    now,
    ip: ask.client.ip,
    audit: toAuditEntry(mail.action, user),
    token: { ...token, claim },
    flow,
    messages: [message],
    ...toCapParts(config.limits.emailSent),
    ...gap,
  })
  if (sent === undefined) return findRefusal(db, 'email', config.limits.emailSent, gap, now)
  services.wakeMessages()
  return undefined
}

/**
 * Stores a request whose response, including its timing, must not depend on whether the user
 * exists; features/deferred-messages.ts looks up the user later. @throws {ApiError} as `mailUser`
 */
export async function deferMail(
  services: Services,
  ask: MailAsk,
  wait: MailWait,
  kind: DeferredKind,
): Promise<void> {
  const expiresInSeconds = services.config.mail.otpExpiresInSeconds
  const deferred = { kind, recipient: ask.email, request: ask, expiresInSeconds }
  await permit(services, ask, wait, (values) =>
    runGapped(services.db, deferEmail, { ...values, ...deferred }),
  )
  services.wakeMessages()
}

/**
 * Does the same checks as `mailUser` for a user who does not exist or needs no message. @throws
 * {ApiError}
 */
export async function mailNobody(
  services: Services,
  ask: Pick<MailAsk, 'email' | 'audience'>,
  wait: MailWait,
): Promise<void> {
  await permit(services, ask, wait, (values) => runGapped(services.db, askEmailCap, values))
}

async function permit(
  services: Services,
  ask: Pick<MailAsk, 'email' | 'audience'>,
  wait: MailWait,
  take: (values: PermitValues) => Promise<Row | undefined>,
): Promise<void> {
  const { db, config, now: readClock } = services
  const { emailSent } = config.limits
  const now = new Date(readClock())
  const gap = toMailGap(services, ask, wait)
  if ((await take(toPermitValues(emailSent, gap, now))) !== undefined) return
  const refusal = await findRefusal(db, 'email', emailSent, gap, now)
  if (refusal !== undefined) throw refusal.error
}

/** Returns why a new user was not created: the message to them was not allowed. */
export async function toMailError(
  { db, config: { limits } }: Pick<Services, 'db' | 'config'>,
  gap: GapParts,
  now: Date,
): Promise<ApiError> {
  const refusal = await findRefusal(db, 'email', limits.emailSent, gap, now)
  return refusal?.error ?? toCapError(db, limits.emailSent, now)
}

export function toMailGap(
  { messageGaps, config }: Pick<Services, 'messageGaps' | 'config'>,
  { email, audience }: Pick<MailAsk, 'email' | 'audience'>,
  { clock, gap }: MailWait,
): GapParts {
  return toGapParts(messageGaps, { clock, audience, name: email, gapMs: config.mail[gap] })
}

export function toMailRequest(ask: MailAsk, mail: UserMail): MailRequest {
  const { email, redirectTo, externalUrl, challenge } = ask
  const { kind, tokenType, authenticationMethod } = mail
  return {
    kind,
    tokenType,
    email,
    redirectTo,
    externalUrl,
    pkce: challenge && { ...challenge, authenticationMethod },
  }
}

/** The fields of every request that sends a message with a link. */
export interface MailBody {
  readonly email?: string
  readonly code_challenge?: string
  readonly code_challenge_method?: string
}

/** @throws {ApiError} before anything is changed. */
export function readMailAsk(call: Call<MailBody>, services: Services, email: string): MailAsk {
  const { body, audience, client, externalUrl } = call
  checkAuthorized(services, email)
  return {
    email,
    audience,
    client,
    challenge: parseChallenge(body.code_challenge, body.code_challenge_method),
    redirectTo: findRedirectTarget(call, services.redirects),
    externalUrl,
  }
}
