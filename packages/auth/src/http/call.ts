import type { IncomingHttpHeaders } from 'node:http'
import type { ApiError } from '../errors.ts'
import { serialiseUrl } from '../features/redirects/redirects.ts'
import type { ProvableRequest } from '../features/sessions/proofs.ts'
import type { Client } from '../features/sessions/sessions.ts'
import type { CallerRow } from '../features/sessions/statements/sessions.ts'

/** A request as it is passed to an endpoint. */
export interface Call<Body = unknown> {
  readonly body: Body
  readonly query: Readonly<Record<string, string | undefined>>
  readonly params: Readonly<Record<string, string>>
  header(name: string): string | undefined
  /** The method and URL as the client sees them, and the proof of its key, if it sent one. */
  readonly proven: ProvableRequest
  /**
   * Whether to behave like current Supabase Auth where its behaviour differs from this server's own API.
   */
  readonly isSdk: boolean
  readonly client: Client
  readonly requestId: string
  readonly audience: string
  /** The public URL of this server as seen by the client. */
  readonly externalUrl: string
  /** Set if the endpoint requires a user. */
  readonly caller: CallerRow | undefined
  /** The role of an administrator; undefined for all other callers. */
  readonly adminRole: string | undefined
  /** The subject of the token of an administrator, if it has one. */
  readonly adminSubject: string | undefined
}

/** The response of an endpoint. */
export interface Answer {
  readonly status: number
  /** Undefined: no body. */
  readonly body?: unknown
  /** Server-sent events instead of a JSON body, until the signal is aborted because the client has disconnected. */
  readonly stream?: (closed: AbortSignal) => AsyncIterable<string>
  /** An HTML page instead of a JSON body. */
  readonly html?: string
  /** An XML document instead of a JSON body. */
  readonly xml?: string
  /** The type of a JSON body, if it is a more specific one. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Called when the whole response has been written to the connection. */
  readonly onSent?: () => void
  /** An error that a redirect cannot report; it is logged. */
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

/** Returns the first value if the header occurs several times. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
