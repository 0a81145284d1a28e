import type { SessionLimits } from '../../config/tokens.ts'
import type { Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Hooks } from '../../plugins/hooks/index.ts'
import type { ClientGrant, GrantHolder } from '../../tokens/client-grants.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import { type AuditAction, createAuditId, toAuditEntry } from '../audit/audit.ts'
import { isBelowLevel } from './assurance-level.ts'
import type { Deliveries } from './deliveries.ts'
import type { ImportedTokens } from './imported-tokens.ts'
import type { RefreshToken, RefreshTokens } from './refresh-tokens.ts'
import type { WriteClaims } from './session-claims.ts'
import { refreshBeforeRaise, rotateSession } from './statements/rotation.ts'
import { toLimitValues } from './statements/session-limits.ts'
import { endSession } from './statements/session-list.ts'
import { findRefresh, type RefreshRow, type SessionRow } from './statements/sessions.ts'

export interface RefreshSettings extends SessionLimits {
  readonly reuseIntervalMs: number
  /** Whether the reuse of an old token ends the session. */
  readonly rotates: boolean
  /**
   * Whether a token is accepted at any age as long as the one that replaced it has not been used for
   * a refresh.
   */
  readonly parentGrace: boolean
  /** Whether every earlier token is accepted, except those from before a second factor. */
  readonly allowsReuse?: boolean
}

export interface RefreshParts {
  readonly db: Database
  readonly refreshTokens: RefreshTokens
  /** Tokens of imported sessions. Only tokens that `refreshTokens` rejects are looked up there. */
  readonly importedTokens?: ImportedTokens
  readonly settings: RefreshSettings
  /** A hook that changes the claims of access tokens. */
  readonly customize: Hooks['customAccessToken']
  readonly deliveries: Pick<Deliveries, 'mark' | 'settled'>
  readonly now: () => number
}

interface RefreshingClient {
  readonly ip: string
  readonly userAgent: string
}

/** A session with its next refresh token. */
export interface Renewal {
  readonly row: SessionRow
  /** The claims of the next access token. */
  readonly claims: Claims
  /** See `Refreshed`. */
  readonly onSent: () => void
}

type Refresh = (
  refreshToken: string,
  client: RefreshingClient,
  holder?: GrantHolder,
) => Promise<Renewal>

/** Returns the function that exchanges a refresh token for the next one. */
export function createRefresh(parts: RefreshParts, toClaims: WriteClaims): Refresh {
  const { db, refreshTokens, importedTokens, settings, customize, deliveries, now } = parts

  /**
   * Calls the hook before the refresh token is used up. If the hook fails, the client can retry
   * with the same token instead of losing the session.
   */
  async function prepareRefresh(
    { sessionId, counter }: RefreshToken,
    client: RefreshingClient,
    nowMs: number,
    grant: ClientGrant | undefined,
  ): Promise<Claims | undefined> {
    if (customize === undefined) return undefined
    const limits = toLimitValues(settings, nowMs)
    const [row] = await db.run(findRefresh, { sessionId, ...limits })
    // Errors are handled below, after the rotation has failed.
    if (row?.refresh_token_counter !== counter || findFlaw(row, settings, nowMs)) return undefined
    if ((row.oauth_client_id === null) !== (grant === undefined)) return undefined
    return toClaims(refreshedAt(withGrant(row, grant), nowMs), client, nowMs, 'token_refresh')
  }

  /**
   * Returns the grant of the new access token.
   * @throws {ApiError} if the token belongs to another client, or to none.
   */
  async function readGrant(
    { sessionId }: RefreshToken,
    holder: GrantHolder,
    nowMs: number,
  ): Promise<ClientGrant> {
    const [row] = await db.run(findRefresh, { sessionId, ...toLimitValues(settings, nowMs) })
    const isOwn = row !== undefined && row.oauth_client_id === holder.clientId
    if (!isOwn || row.oauth_grant === null) throw unknownToken()
    return holder.narrow(row.oauth_grant)
  }

  /** The token may have been stolen, so the session ends. The audit log has the reason. */
  async function endReused(
    row: RefreshRow,
    { ip }: RefreshingClient,
    nowMs: number,
  ): Promise<void> {
    const { id: userId, session_id: sessionId } = row
    const entry = toAuditEntry('token_revoked', row, {
      session_id: sessionId,
      reason: 'refresh_token_already_used',
    })
    await db.run(endSession, {
      userId,
      sessionId,
      now: new Date(nowMs),
      auditId: entry.id,
      auditPayload: entry.payload,
      ip,
    })
  }

  /**
   * @param row the result of `findBeforeRaise`.
   * @returns false when the token of the raise has been used in the meantime.
   */
  async function refreshAtAal1(
    row: RefreshRow,
    client: RefreshingClient,
    nowMs: number,
  ): Promise<boolean> {
    const kept = await db.run(refreshBeforeRaise, {
      sessionId: row.session_id,
      raisedFrom: row.refresh_token_counter,
      userAgent: client.userAgent,
      ip: client.ip,
      auditId: createAuditId(),
      auditAction: 'token_refreshed' satisfies AuditAction,
      now: new Date(nowMs),
    })
    return kept.length > 0
  }

  // RFC 9700, section 4.14: the settings for this server's own users cannot weaken it.
  const clientRules: RefreshSettings = { ...settings, rotates: true, allowsReuse: false }

  return async (text, client, holder) => {
    const rules = holder === undefined ? settings : clientRules
    const token = refreshTokens.decode(text) ?? (await importedTokens?.find(text))
    if (token === undefined) throw unknownToken()
    const nowMs = now()
    const limits = toLimitValues(settings, nowMs)
    const grant = holder && (await readGrant(token, holder, nowMs))
    const customized = customize && (await prepareRefresh(token, client, nowMs, grant))
    const [rotated] = await db.run(rotateSession, {
      sessionId: token.sessionId,
      counter: token.counter,
      userAgent: client.userAgent,
      ip: client.ip,
      auditId: createAuditId(),
      auditAction: 'token_refreshed' satisfies AuditAction,
      ...limits,
      clientId: holder?.clientId ?? null,
    })
    const renew = async (found: SessionRow, prepared?: Claims): Promise<Renewal> => {
      const row = withGrant(found, grant)
      const claims = prepared ?? (await toClaims(row, client, nowMs, 'token_refresh'))
      const { session_id: sessionId, refresh_token_counter: counter } = row
      // With `parentGrace`, the time of delivery is not used.
      const onSent = () => {
        if (!settings.parentGrace) deliveries.mark({ sessionId, counter }, settings.reuseIntervalMs)
      }
      return { row, claims, onSent }
    }
    if (rotated !== undefined) return renew(rotated, customized)
    // The response with the current token may have been sent a moment ago.
    await deliveries.settled()
    const [row] = await db.run(findRefresh, { sessionId: token.sessionId, ...limits })
    if (row === undefined) throw noSession()
    // A token of a client is valid only with the authentication of that client.
    if (row.oauth_client_id !== (holder?.clientId ?? null)) throw unknownToken()
    const beforeRaise = findBeforeRaise(row, token.counter, rules)
    const flaw = findFlaw(beforeRaise ?? row, rules, nowMs)
    if (flaw !== undefined) throw flaw
    if (token.counter > row.refresh_token_counter) throw notIssued()
    if (isRetry(row, token.counter, rules, nowMs)) return renew(row)
    if (beforeRaise !== undefined && (await refreshAtAal1(beforeRaise, client, nowMs))) {
      return renew(refreshedAt(beforeRaise, nowMs))
    }
    if (rules.rotates && !rules.allowsReuse) await endReused(row, client, nowMs)
    throw alreadyUsed()
  }
}

/** The session as it is after a refresh. */
function refreshedAt<Row extends SessionRow>(row: Row, nowMs: number): Row {
  return { ...row, refreshed_at: new Date(nowMs).toISOString() }
}

function withGrant<Row extends SessionRow>(row: Row, grant: ClientGrant | undefined): Row {
  return grant === undefined ? row : { ...row, oauth_grant: grant }
}

const prefix = 'Invalid Refresh Token: '

export function unknownToken(): ApiError {
  return new ApiError('refresh_token_not_found', `${prefix}Refresh Token Not Found`)
}

function noSession(): ApiError {
  return new ApiError('session_not_found', `${prefix}No Valid Session Found`, { status: 400 })
}

/** Why a session is refused, whichever token is presented; undefined when it is valid. */
export function findFlaw(
  row: RefreshRow,
  settings: RefreshSettings,
  nowMs: number,
): ApiError | undefined {
  const { timeboxMs, inactivityMs, lowAalMs } = settings
  if (row.revoked_at !== null || row.deleted_at !== null) return noSession()
  if (row.banned_until !== null && Date.parse(row.banned_until) > nowMs) {
    return new ApiError('user_banned', `${prefix}User Banned`, { status: 400 })
  }
  const createdMs = Date.parse(row.session_created_at)
  const refreshedMs = Date.parse(row.refreshed_at ?? row.session_created_at)
  const isOver = row.not_after !== null && nowMs > Date.parse(row.not_after)
  if (isOver || (timeboxMs !== undefined && nowMs > createdMs + timeboxMs)) return expired('')
  if (inactivityMs !== undefined && nowMs > refreshedMs + inactivityMs) {
    return expired(' (Inactivity)')
  }
  if (lowAalMs !== undefined && isBelowLevel(row) && nowMs > createdMs + lowAalMs) {
    return expired(' (Low AAL: User Needs MFA Verification)')
  }
  if (row.has_newer) return expired(' (Revoked by Newer Login)')
  return undefined
}

function expired(why: string): ApiError {
  return new ApiError('session_expired', `${prefix}Session Expired${why}`, { status: 400 })
}

/**
 * Retries after a lost response, and other tabs, send the previous token. As long as the current
 * token is not known to have been delivered, refusing the previous one would end the session: the
 * database may have stalled for minutes between the rotation and its commit, or the process may
 * have died.
 */
function isRetry(
  row: RefreshRow,
  counter: number,
  { reuseIntervalMs, parentGrace, allowsReuse }: RefreshSettings,
  nowMs: number,
): boolean {
  const { refresh_token_counter: present, delivered_counter: delivered, delivered_at: at } = row
  // The current token would give aal2 to anyone who has a token of aal1.
  if (allowsReuse) return row.raised_from === null || counter > row.raised_from
  if (present - counter !== 1) return false
  if (parentGrace || delivered !== present || at === null) return true
  return nowMs <= Date.parse(at) + reuseIntervalMs
}

/**
 * Returns the session as it was before a second factor raised it, if the token is the one before the
 * raise, or the one before that, and the token of the raise has not been used: the client has lost
 * the response of the verification. It continues at aal1 with the token that it had then, because
 * the token of the raise would give aal2 to anyone who has a token of aal1.
 */
function findBeforeRaise(
  row: RefreshRow,
  counter: number,
  { parentGrace }: RefreshSettings,
): RefreshRow | undefined {
  const { raised_from: from, refresh_token_counter: present } = row
  if (!parentGrace || from === null || present !== from + 2) return undefined
  if (counter !== from && counter !== from - 1) return undefined
  const amr = row.amr.filter(({ method }) => !isSecondFactor(method))
  return { ...row, aal: 'aal1', amr, refresh_token_counter: from }
}

/** Whether a method in the `amr` is a second factor. */
export function isSecondFactor(method: string): boolean {
  return method === 'totp' || method.startsWith('mfa/')
}

function notIssued(): ApiError {
  return new ApiError('validation_failed', `${prefix}Not Issued By This Server`)
}

function alreadyUsed(): ApiError {
  return new ApiError('refresh_token_already_used', `${prefix}Already Used`)
}
