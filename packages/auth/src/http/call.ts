import type { IncomingHttpHeaders } from 'node:http'
import type { ApiError } from '../errors.ts'
import { serialiseUrl } from '../features/redirects/redirects.ts'
import type { Client } from '../features/sessions/sessions.ts'
import type { CallerRow } from '../features/sessions/statements/sessions.ts'

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
  /** Set where the endpoint asks for a user. */
  readonly caller: CallerRow | undefined
  /** The role of an administrator; undefined for everybody else. */
  readonly adminRole: string | undefined
  /** Whom the token of an administrator names, if anybody. */
  readonly adminSubject: string | undefined
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

/** Of a header that is there twice the first value counts. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
