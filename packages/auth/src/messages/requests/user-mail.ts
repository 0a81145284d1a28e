import { checkAuthorized } from '../../addresses.ts'
import { type AuditAction, toAuditEntry } from '../../features/audit/audit.ts'
import {
  findRedirectTarget,
  type RedirectRequest,
} from '../../features/redirects/redirect-location.ts'
import { type Challenge, parseChallenge } from '../../features/sessions/pkce.ts'
import type { Client } from '../../features/sessions/sessions.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
import type { Services } from '../../services.ts'
import { type DeferredKind, deferEmail, takeEmailPermit } from '../statements/message-cooldowns.ts'
import { messageRequests } from '../statements/request-message.ts'
import type { AccountClaim } from '../statements/request-parts.ts'
import type { MailRequest } from './mail-plan.ts'
import {
  type CooldownKind,
  type CooldownParts,
  findRefusal,
  noCooldown,
  type Refusal,
  runWithCooldown,
  takePermit,
  throwRefusal,
  toCapParts,
  toCooldownParts,
} from './message-cooldowns.ts'

/** A client's request for a message to an email address; clients need not be authenticated. */
export interface ClientMailRequest {
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
  /** Undefined if the cooldown was already checked. */
  readonly cooldown: MailCooldown | undefined
}

/** Returns the message without its cooldown, which was checked before `deferMail` stored the request. */
export function skipCooldown(mail: UserMail): UserMail {
  return { ...mail, cooldown: undefined }
}

/** The cooldown that applies to a message. */
export interface MailCooldown {
  readonly kind: CooldownKind
  /** The field of `config.mail` with its length. */
  readonly setting: 'cooldownMs' | 'magicLinkCooldownMs'
}

/** The cooldown depends only on the request, so that it reveals nothing about accounts. */
export const mailCooldowns = {
  confirmation: { kind: 'confirmation', setting: 'cooldownMs' },
  recovery: { kind: 'recovery', setting: 'cooldownMs' },
  magicLink: { kind: 'magic_link', setting: 'magicLinkCooldownMs' },
  emailChange: { kind: 'email_change', setting: 'cooldownMs' },
} as const satisfies Record<string, MailCooldown>

export const userMails = {
  confirmation: {
    kind: 'confirmation',
    tokenType: 'confirmation',
    sentAt: 'confirmation_sent_at',
    authenticationMethod: 'email/signup',
    action: 'user_confirmation_requested',
    cooldown: mailCooldowns.confirmation,
  },
  recovery: {
    kind: 'recovery',
    tokenType: 'recovery',
    sentAt: 'recovery_sent_at',
    authenticationMethod: 'recovery',
    action: 'user_recovery_requested',
    cooldown: mailCooldowns.recovery,
  },
  magicLink: {
    kind: 'magic_link',
    tokenType: 'recovery',
    sentAt: 'recovery_sent_at',
    authenticationMethod: 'magiclink',
    action: 'user_recovery_requested',
    cooldown: mailCooldowns.magicLink,
  },
} as const satisfies Record<string, UserMail>

/**
 * Sends a message to a user. @throws {ApiError} during the cooldown of the address, or if no email
 * may be sent. `simulateMail` returns the same errors for an address without a user.
 */
export async function mailUser(
  services: Services,
  request: ClientMailRequest,
  user: UserRow,
  mail: UserMail,
  claim: AccountClaim,
): Promise<void> {
  throwRefusal(await tryToMail(services, request, user, mail, claim))
}

/** Like `mailUser`. @returns why the message was not sent; undefined if it was sent. */
export async function tryToMail(
  services: Services,
  request: ClientMailRequest,
  user: UserRow,
  mail: UserMail,
  claim: AccountClaim,
): Promise<Refusal | undefined> {
  const { db, config } = services
  const now = new Date(services.now())
  const { token, flow, message } = services.mail.plan(toMailRequest(request, mail))
  const cooldownParts =
    mail.cooldown === undefined ? noCooldown : toMailCooldown(services, request, mail.cooldown)
  const sent = await runWithCooldown(db, messageRequests[mail.sentAt], {
    user_id: user.id,
    own_gap_seconds: null,
    invited_at: null,
    now,
    ip: request.client.ip,
    audit: toAuditEntry(mail.action, user),
    token: { ...token, claim },
    flow,
    messages: [message],
    ...toCapParts(config.limits.emailSent),
    ...cooldownParts,
  })
  if (sent === undefined) return findRefusal(services, 'email', cooldownParts, now)
  services.wakeMessages()
  return undefined
}

/**
 * Stores a request whose response, including its timing, must not depend on whether the user
 * exists; features/deferred-messages.ts looks up the user later. @throws {ApiError} as `mailUser`
 */
export async function deferMail(
  services: Services,
  request: ClientMailRequest,
  cooldown: MailCooldown,
  kind: DeferredKind,
): Promise<void> {
  throwRefusal(await tryToDeferMail(services, request, cooldown, kind))
}

/** Like `deferMail`. @returns why the request was not stored; undefined if it was stored. */
export async function tryToDeferMail(
  services: Services,
  request: ClientMailRequest,
  cooldown: MailCooldown,
  kind: DeferredKind,
): Promise<Refusal | undefined> {
  const expiresInSeconds = services.config.mail.otpExpiresInSeconds
  const deferred = { kind, recipient: request.email, request, expiresInSeconds }
  const cooldownParts = toMailCooldown(services, request, cooldown)
  const refusal = await takePermit(services, 'email', cooldownParts, (values) =>
    runWithCooldown(services.db, deferEmail, { ...values, ...deferred }),
  )
  if (refusal === undefined) services.wakeMessages()
  return refusal
}

/**
 * Does the same checks and starts the same cooldown as `mailUser`, but sends nothing: the user does
 * not exist or needs no message. @throws {ApiError}
 */
export async function simulateMail(
  services: Services,
  request: Pick<ClientMailRequest, 'email' | 'audience'>,
  cooldown: MailCooldown,
): Promise<void> {
  const cooldownParts = toMailCooldown(services, request, cooldown)
  const refusal = await takePermit(services, 'email', cooldownParts, (values) =>
    runWithCooldown(services.db, takeEmailPermit, values),
  )
  throwRefusal(refusal)
}

export function toMailCooldown(
  { cooldownKeys, config }: Pick<Services, 'cooldownKeys' | 'config'>,
  { email, audience }: Pick<ClientMailRequest, 'email' | 'audience'>,
  { kind, setting }: MailCooldown,
): CooldownParts {
  return toCooldownParts(cooldownKeys, {
    kind,
    audience,
    name: email,
    cooldownMs: config.mail[setting],
  })
}

export function toMailRequest(request: ClientMailRequest, mail: UserMail): MailRequest {
  const { email, redirectTo, externalUrl, challenge } = request
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

interface MailCall
  extends RedirectRequest,
    Pick<ClientMailRequest, 'client' | 'audience' | 'externalUrl'> {
  readonly body: MailBody
}

/** @throws {ApiError} before anything is changed. */
export function readClientMailRequest(
  call: MailCall,
  services: Services,
  email: string,
): ClientMailRequest {
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
