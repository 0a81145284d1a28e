import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Hooks } from '../../plugins/hooks/index.ts'
import type { Claims, TokenSigner } from '../../tokens/json-web-token.ts'
import { type AuditAction, createAuditId, toAuditEntry } from '../audit/audit.ts'
import type { Json } from '../users/metadata.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord } from '../users/user-record.ts'
import { type AccessTokenSettings, createAccessToken, type TokenSize } from './access-tokens.ts'
import type { ClientGrant, GrantHolder } from './client-grants.ts'
import type { Deliveries } from './deliveries.ts'
import type { ImportedTokens } from './imported-tokens.ts'
import {
  alreadyUsed,
  findBeforeRaise,
  findFlaw,
  isRetry,
  noSession,
  notIssued,
  type RefreshSettings,
  unknownToken,
} from './refresh.ts'
import type { RefreshToken, RefreshTokens } from './refresh-tokens.ts'
import { createClaimsWriter } from './session-claims.ts'
import { refreshBeforeRaise, rotateSession } from './statements/rotation.ts'
import { toLimitValues } from './statements/session-limits.ts'
import { endSession } from './statements/session-list.ts'
import {
  findRefresh,
  openSession,
  type RefreshRow,
  revokeSessions,
  type SessionRow,
} from './statements/sessions.ts'

export interface SessionSettings extends Omit<AccessTokenSettings, 'lowAalMs'>, RefreshSettings {
  /** The tokens of OAuth clients always have an issuer. */
  readonly clientIssuer: string
}

export interface SessionParts {
  readonly db: Database
  readonly signer: TokenSigner
  readonly refreshTokens: RefreshTokens
  /** Tokens of imported sessions. Only tokens that `refreshTokens` rejects are looked up there. */
  readonly importedTokens?: ImportedTokens
  readonly settings: SessionSettings
  /** A hook that changes the claims of access tokens. */
  readonly customize: Hooks['customAccessToken']
  readonly tokenSize: TokenSize
  readonly deliveries: Pick<Deliveries, 'mark' | 'settled'>
  /** Called after a sign-in to an existing account. */
  readonly onSignedIn?: () => void
  readonly now: () => number
}

/** What the connection reveals about the client. */
export interface Client {
  readonly ip: string
  /** The key for rate limits, if it is not the IP address. */
  readonly limitKey?: string
  readonly userAgent: string
  /** One of AUTH_SESSIONS_TAGS, if the request names one. */
  readonly tag?: string | undefined
}

export interface Login {
  readonly user: Pick<UserRow, 'id' | 'email' | 'phone' | 'is_sso_user'>
  readonly method: string
  /** The external provider, if one was used. */
  readonly provider?: string
  readonly client: Client
  readonly action?: AuditAction
  readonly isRecovery?: boolean
  /** Replaces an outdated hash. */
  readonly newHash?: string | undefined
  /** The hash that the password was checked against. If it has changed since, the sign-in fails. */
  readonly shownHash?: string | undefined
  /** When the session ends at the latest, if the provider limits it. */
  readonly notAfter?: Date | undefined
}

export type TokenResponse = Readonly<Record<string, Json>>

export interface Refreshed {
  readonly response: TokenResponse
  readonly session: SessionRow
  /**
   * Call this when the response was sent. From then on, the previous token is accepted only
   * briefly.
   */
  readonly onSent: () => void
}

/** A refresh token that was presented without being used. */
export interface FoundToken {
  readonly session: RefreshRow
  /** Whether a refresh with it would succeed. */
  readonly isCurrent: boolean
}

export interface Sessions {
  /** @throws {ApiError} */
  open(login: Login): Promise<TokenResponse>
  /** Undefined when the user no longer exists or `shownHash` has changed. @throws {ApiError} */
  tryOpen(login: Login): Promise<TokenResponse | undefined>
  /** @param holder the OAuth client, if one presents the token. @throws {ApiError} */
  refresh(refreshToken: string, client: Client, holder?: GrantHolder): Promise<Refreshed>
  /** Undefined when this server did not issue the token. */
  find(refreshToken: string): Promise<FoundToken | undefined>
  /** For a session that another statement has opened. @throws {ApiError} */
  toTokenResponse(row: SessionRow, client: Client): Promise<TokenResponse>
}

export function createSessions(parts: SessionParts): Sessions {
  const { db, signer, refreshTokens, settings, customize, deliveries, now } = parts
  const toClaims = createClaimsWriter(parts)
  // RFC 9700, section 4.14: the settings for this server's own users cannot weaken it.
  const clientRules: RefreshSettings = { ...settings, rotates: true, allowsReuse: false }

  /**
   * Calls the hook before the refresh token is used up. If the hook fails, the client can retry
   * with the same token instead of losing the session.
   */
  async function prepareRefresh(
    { sessionId, counter }: RefreshToken,
    client: Client,
    nowMs: number,
    grant: ClientGrant | undefined,
  ): Promise<Claims | undefined> {
    if (customize === undefined) return undefined
    const limits = toLimitValues(settings, nowMs)
    const [row] = await db.run(findRefresh, { sessionId, ...limits })
    // Errors are handled below, after the rotation has failed.
    if (row?.refresh_token_counter !== counter || findFlaw(row, settings, nowMs)) return undefined
    if ((row.oauth_client_id === null) !== (grant === undefined)) return undefined
    return toClaims(withGrant(row, grant), client, nowMs, 'token_refresh')
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

  /** Revokes the new session if a hook refuses its first token. */
  async function toFirstResponse(
    row: SessionRow,
    client: Client,
    nowMs: number,
  ): Promise<TokenResponse> {
    try {
      return toTokenResponse(row, await toClaims(row, client, nowMs))
    } catch (error) {
      await db.run(revokeSessions, { sessionIds: [row.session_id], now: new Date(nowMs) })
      throw error
    }
  }

  function toTokenResponse(row: SessionRow, claims: Claims): TokenResponse {
    const { session_id: sessionId, refresh_token_counter: counter } = row
    const access = createAccessToken(signer, claims)
    return {
      access_token: access.text,
      token_type: 'bearer',
      expires_in: access.expiresInSeconds,
      expires_at: access.expiresAtSeconds,
      refresh_token: refreshTokens.encode({ sessionId, counter }),
      user: toUserRecord(row),
    }
  }

  /** The token may have been stolen, so the session ends. The audit log has the reason. */
  async function endReused(row: RefreshRow, { ip }: Client, nowMs: number): Promise<void> {
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
  async function refreshAtAal1(row: RefreshRow, client: Client, nowMs: number): Promise<boolean> {
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

  async function tryOpen(login: Login): Promise<TokenResponse | undefined> {
    const { user, method, provider, client, action = 'login', isRecovery = false } = login
    const nowMs = now()
    const through = provider === undefined ? {} : { provider }
    const amr = [{ method, timestamp: Math.floor(nowMs / 1_000), ...through }]
    const entry = toAuditEntry(action, user, { provider: provider ?? method })
    const [row] = await db.run(openSession, {
      sessionId: randomUUID(),
      userId: user.id,
      amr: JSON.stringify(amr),
      userAgent: client.userAgent,
      ip: client.ip,
      isRecovery,
      newHash: login.newHash ?? null,
      auditId: entry.id,
      auditPayload: entry.payload,
      now: new Date(nowMs),
      shownHash: login.shownHash ?? null,
      tag: client.tag ?? null,
      notAfter: login.notAfter ?? null,
    })
    const response = row && (await toFirstResponse(row, client, nowMs))
    if (response !== undefined && action === 'login') parts.onSignedIn?.()
    return response
  }

  return {
    toTokenResponse: (row, client) => toFirstResponse(row, client, now()),

    tryOpen,

    async open(login) {
      const response = await tryOpen(login)
      if (response !== undefined) return response
      throw new ApiError('user_not_found', 'User from sub claim in JWT does not exist')
    },

    async find(text) {
      const token = refreshTokens.decode(text)
      if (token === undefined) return undefined
      const nowMs = now()
      const limits = toLimitValues(settings, nowMs)
      const [session] = await db.run(findRefresh, { sessionId: token.sessionId, ...limits })
      if (session === undefined) return undefined
      const isNewest = session.refresh_token_counter === token.counter
      return { session, isCurrent: isNewest && findFlaw(session, settings, nowMs) === undefined }
    },

    async refresh(text, client, holder) {
      const rules = holder === undefined ? settings : clientRules
      const token = refreshTokens.decode(text) ?? (await parts.importedTokens?.find(text))
      if (token === undefined) throw unknownToken()
      const nowMs = now()
      const limits = toLimitValues(settings, nowMs)
      const grant = holder && (await readGrant(token, holder, nowMs))
      const prepared = customize && (await prepareRefresh(token, client, nowMs, grant))
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
      const renew = async (found: SessionRow, claims?: Claims): Promise<Refreshed> => {
        const row = withGrant(found, grant)
        const given = claims ?? (await toClaims(row, client, nowMs, 'token_refresh'))
        const { session_id: sessionId, refresh_token_counter: counter } = row
        // With `parentGrace`, the time of delivery is not used.
        const onSent = () => {
          if (!settings.parentGrace)
            deliveries.mark({ sessionId, counter }, settings.reuseIntervalMs)
        }
        return { response: toTokenResponse(row, given), session: row, onSent }
      }
      if (rotated !== undefined) return renew(rotated, prepared)
      // The response with the current token may have been sent a moment ago.
      await deliveries.settled()
      const [row] = await db.run(findRefresh, { sessionId: token.sessionId, ...limits })
      if (row === undefined) throw noSession()
      // A token of a client is valid only with the authentication of that client.
      if (row.oauth_client_id !== (holder?.clientId ?? null)) throw unknownToken()
      const beforeRaise = findBeforeRaise(row, token.counter, rules)
      const flaw = findFlaw(beforeRaise ?? row, rules, nowMs)
      if (flaw !== undefined) throw flaw
      if (token.counter > row.refresh_token_counter) {
        throw notIssued()
      }
      if (isRetry(row, token.counter, rules, nowMs)) return renew(row)
      if (beforeRaise !== undefined && (await refreshAtAal1(beforeRaise, client, nowMs))) {
        return renew(beforeRaise)
      }
      if (rules.rotates && !rules.allowsReuse) await endReused(row, client, nowMs)
      throw alreadyUsed()
    },
  }
}

function withGrant<Row extends SessionRow>(row: Row, grant: ClientGrant | undefined): Row {
  return grant === undefined ? row : { ...row, oauth_grant: grant }
}
