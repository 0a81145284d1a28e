import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context } from '@opentelemetry/api'
import type { AuditNotice } from '../db/audit-notices.ts'
import type { ApiError } from '../errors.ts'

/** A request from its first to its last byte, as logs, traces and metrics see it. */
export interface WatchedCall {
  readonly method: string
  /** Without the query, which may contain secrets. */
  readonly path: string
  /** `/admin/users/{user_id}`, or `noroute`. */
  readonly route: string
  /** Parameters by their names in the route. */
  readonly params: Readonly<Record<string, string>>
  readonly header: (name: string) => string | undefined
  readonly requestId: string
  /** The client address, also behind proxies. */
  readonly address: string
  readonly userAgent: string
  readonly grantType: string | undefined
  /** The parent of new spans, if the request is traced. */
  context?: Context
  traceId?: string
  /** The error of the response, if there is one so far. */
  failure?: ApiError
  /** Why a sign-in failed, and the user if they are known. */
  signInFailure?: { readonly reason: string; readonly userId: string | undefined }
  /** The audit entries written so far. */
  readonly audited: AuditNotice[]
  /** Set at the end. 499 if the client disconnected before the response. */
  status: number
  /** Set at the end. */
  durationMs: number
}

export interface CallWatch {
  /** @returns a function that is called at the end. */
  begin(call: WatchedCall): () => void
}

/** The request that the current code belongs to. Undefined for background work. */
export const currentCall = new AsyncLocalStorage<WatchedCall | undefined>()

/** Runs work that a request starts without waiting for it, detached from the request. */
export function apartFromCall<Result>(work: () => Result): Result {
  return currentCall.run(undefined, work)
}
