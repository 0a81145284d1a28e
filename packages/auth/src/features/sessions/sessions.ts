import { randomUUID } from 'node:crypto'
import type { SessionLimits } from '../../config/tokens.ts'
import { ApiError } from '../../errors.ts'
import type { Json } from '../../stored-json.ts'
import type { GrantHolder } from '../../tokens/client-grants.ts'
import type { Claims, TokenSigner } from '../../tokens/json-web-token.ts'
import { type AuditAction, toAuditEntry } from '../audit/audit.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord } from '../users/user-record.ts'
import { type AccessTokenSettings, createAccessToken, type TokenSize } from './access-tokens.ts'
import { createRefresh, findFlaw, type RefreshParts, type RefreshSettings } from './refresh.ts'
import { createClaimsWriter } from './session-claims.ts'
import { toLimitValues } from './statements/session-limits.ts'
import {
  findRefresh,
  openSession,
  type RefreshRow,
  revokeReplacedTokens,
  revokeSessions,
  type SessionRow,
} from './statements/sessions.ts'

export interface SessionSettings
  extends Omit<AccessTokenSettings, keyof SessionLimits>,
    RefreshSettings {
  /** The tokens of OAuth clients always have an issuer. */
  readonly clientIssuer: string
}

export interface SessionParts extends RefreshParts {
  readonly signer: TokenSigner
  readonly settings: SessionSettings
  readonly tokenSize: TokenSize
  /** Called after a sign-in to an existing account. */
  readonly onSignedIn?: () => void
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
  const { db, signer, refreshTokens, settings, now } = parts
  const toClaims = createClaimsWriter(parts)
  const refresh = createRefresh(parts, toClaims)

  /**
   * Revokes the new session if a hook refuses its first token. Otherwise, programs that verify tokens themselves refuse
   * those of the session that the new one replaces.
   */
  async function toFirstResponse(
    row: SessionRow,
    client: Client,
    nowMs: number,
  ): Promise<TokenResponse> {
    const { session_id: sessionId, oauth_client_id: clientId } = row
    try {
      const claims = await toClaims(row, client, nowMs)
      if (settings.singlePerUser && clientId === null) {
        await db.run(revokeReplacedTokens, { sessionId, ...toLimitValues(settings, nowMs) })
      }
      return toTokenResponse(row, claims)
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
      const { row, claims, onSent } = await refresh(text, client, holder)
      return { response: toTokenResponse(row, claims), session: row, onSent }
    },
  }
}
