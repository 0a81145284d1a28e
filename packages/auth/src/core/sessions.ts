import { randomUUID } from 'node:crypto'
import type { Database } from '../db/database.ts'
import {
  findRefresh,
  openSession,
  type RefreshRow,
  revokeSessions,
  rotateSession,
  type SessionRow,
} from '../db/sessions.ts'
import type { UserRow } from '../db/user-row.ts'
import { ApiError } from '../errors.ts'
import { type AccessTokenSettings, createAccessToken } from './access-tokens.ts'
import { type AuditAction, toAuditEntry } from './audit.ts'
import type { TokenSigner } from './json-web-token.ts'
import type { Json } from './metadata.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import { toUserRecord } from './user-record.ts'

export interface SessionSettings extends AccessTokenSettings {
  readonly reuseIntervalMs: number
  /** Whether the reuse of an old token ends the session. */
  readonly rotates: boolean
  /** Undefined: no end. */
  readonly timeboxMs: number | undefined
  readonly inactivityMs: number | undefined
  readonly singlePerUser: boolean
}

export interface SessionParts {
  readonly db: Database
  readonly signer: TokenSigner
  readonly refreshTokens: RefreshTokens
  readonly settings: SessionSettings
  readonly now: () => number
}

/** Who asks, as far as the connection tells. */
export interface Client {
  readonly ip: string
  readonly userAgent: string
}

export interface Login {
  readonly user: Pick<UserRow, 'id' | 'email' | 'phone' | 'is_sso_user'>
  readonly method: string
  readonly client: Client
  readonly action?: AuditAction
  readonly isRecovery?: boolean
  /** Replaces a hash that is outdated. */
  readonly newHash?: string | undefined
}

export type TokenResponse = Readonly<Record<string, Json>>

export interface Sessions {
  open(login: Login): Promise<TokenResponse>
  /** @throws {ApiError} */
  refresh(refreshToken: string, client: Client): Promise<TokenResponse>
  /** For a session that another statement has opened, with what it belongs to. */
  toTokenResponse(row: SessionRow): TokenResponse
}

export function createSessions(parts: SessionParts): Sessions {
  const { db, signer, refreshTokens, settings, now } = parts

  function toTokenResponse(row: SessionRow, nowMs: number): TokenResponse {
    const { session_id: sessionId, aal, amr, refresh_token_counter: counter } = row
    const access = createAccessToken(signer, settings, { user: row, sessionId, aal, amr }, nowMs)
    return {
      access_token: access.text,
      token_type: 'bearer',
      expires_in: access.expiresInSeconds,
      expires_at: access.expiresAtSeconds,
      refresh_token: refreshTokens.encode({ sessionId, counter }),
      user: toUserRecord(row),
    }
  }

  return {
    toTokenResponse: (row) => toTokenResponse(row, now()),

    async open({ user, method, client, action = 'login', isRecovery = false, newHash }) {
      const nowMs = now()
      const amr = [{ method, timestamp: Math.floor(nowMs / 1_000) }]
      const entry = toAuditEntry(action, user, { provider: method })
      const [row] = await db.run<SessionRow>(openSession, [
        randomUUID(),
        user.id,
        JSON.stringify(amr),
        client.userAgent,
        client.ip,
        isRecovery,
        newHash ?? null,
        entry.id,
        entry.payload,
        new Date(nowMs),
      ])
      if (row === undefined) {
        throw new ApiError('user_not_found', 'User from sub claim in JWT does not exist')
      }
      return toTokenResponse(row, nowMs)
    },

    async refresh(text, client) {
      const token = refreshTokens.decode(text)
      if (token === undefined) throw unknownToken()
      const nowMs = now()
      const { timeboxMs = nowMs, inactivityMs = nowMs, singlePerUser } = settings
      const [rotated] = await db.run<SessionRow>(rotateSession, [
        token.sessionId,
        token.counter,
        client.userAgent,
        client.ip,
        randomUUID(),
        'token_refreshed' satisfies AuditAction,
        new Date(nowMs),
        new Date(nowMs - timeboxMs),
        new Date(nowMs - inactivityMs),
        singlePerUser,
      ])
      if (rotated !== undefined) return toTokenResponse(rotated, nowMs)
      const [row] = await db.run<RefreshRow>(findRefresh, [token.sessionId])
      if (row === undefined) throw noSession()
      const flaw = findFlaw(row, settings, nowMs)
      if (flaw !== undefined) throw flaw
      if (token.counter > row.refresh_token_counter) {
        throw new ApiError('validation_failed', `${prefix}Not Issued By This Server`)
      }
      if (isPreviousInTime(row, token.counter, settings, nowMs)) return toTokenResponse(row, nowMs)
      if (settings.rotates) await db.run(revokeSessions, [[row.session_id], new Date(nowMs)])
      throw new ApiError('refresh_token_already_used', `${prefix}Already Used`)
    },
  }
}

const prefix = 'Invalid Refresh Token: '

function unknownToken(): ApiError {
  return new ApiError('refresh_token_not_found', `${prefix}Refresh Token Not Found`)
}

function noSession(): ApiError {
  return new ApiError('session_not_found', `${prefix}No Valid Session Found`, { status: 400 })
}

/** What ends a session whatever token is shown. */
function findFlaw(row: RefreshRow, settings: SessionSettings, nowMs: number): ApiError | undefined {
  const { timeboxMs, inactivityMs, singlePerUser } = settings
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
  if (singlePerUser && row.has_newer) return expired(' (Revoked by Newer Login)')
  return undefined
}

function expired(why: string): ApiError {
  return new ApiError('session_expired', `${prefix}Session Expired${why}`, { status: 400 })
}

/** Retries of an answer that was lost, and other tabs, come with the token before. */
function isPreviousInTime(
  { refresh_token_counter: present, rotated_at: rotatedAt }: RefreshRow,
  counter: number,
  { reuseIntervalMs }: SessionSettings,
  nowMs: number,
): boolean {
  if (present - counter !== 1 || rotatedAt === null) return false
  return nowMs <= Date.parse(rotatedAt) + reuseIntervalMs
}
