import type { ApiError } from '../errors.ts'
import { serialiseUrl } from '../features/redirects/serialise-url.ts'
import type { Client } from '../features/sessions/sessions.ts'
import type { UserRow } from '../features/users/statements/user-row.ts'
import type { LimiterName } from '../limits/request-limits.ts'

/** A request on its way through an endpoint. */
export interface Call<Body = unknown> {
  readonly body: Body
  readonly query: Readonly<Record<string, string | undefined>>
  readonly params: Readonly<Record<string, string>>
  header(name: string): string | undefined
  /** Whether the caller speaks the dialect of today's client, where it differs (reference 1.2). */
  readonly isSdk: boolean
  readonly client: Client
  readonly requestId: string
  readonly audience: string
  /** The public URL of this server, as this caller knows it. */
  readonly externalUrl: string
  /** @throws {ApiError} when this address has asked too often. */
  checkLimit(limiter: LimiterName): Promise<void>
  /** Set where the endpoint asks for a user. */
  readonly caller: CallerRow | undefined
  /** The role of an administrator; undefined for everybody else. */
  readonly adminRole: string | undefined
  /** Whom the token of an administrator names, if anybody. */
  readonly adminSubject: string | undefined
}

/** A user who has shown an access token. */
export interface CallerRow extends UserRow {
  readonly session_id: string | null
  /** The lower one of what the token says and of what the session has. */
  readonly aal: string | null
  readonly is_recovery: boolean | null
  readonly session_revoked_at: string | null
  readonly session_created_at: string | null
  readonly session_refreshed_at: string | null
  readonly session_not_after: string | null
}

/** What an endpoint answers. */
export interface Answer {
  readonly status: number
  /** Undefined: no body. */
  readonly body?: unknown
  /** A page in place of a body. */
  readonly html?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Called once the whole answer has been handed to the connection. */
  readonly onSent?: () => void
  /** What went wrong where a redirect cannot say so; the log has it. */
  readonly failure?: ApiError
}

export function json(body: unknown, headers?: Answer['headers']): Answer {
  return { status: 200, body, ...(headers && { headers }) }
}

export const noContent: Answer = { status: 204 }

/** @throws {TypeError} unless the location is an absolute URL. */
export function redirect(location: string, status: 302 | 303 = 303): Answer {
  return { status, headers: { location: serialiseUrl(location) } }
}
