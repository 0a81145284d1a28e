import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context } from '@opentelemetry/api'
import type { AuditNotice } from '../db/audit-notices.ts'
import type { ApiError } from '../errors.ts'

/** A request from its first byte to its last, as log, traces and metrics see it. */
export interface WatchedCall {
  readonly method: string
  /** Without the query, which may hold secrets. */
  readonly path: string
  /** `/admin/users/{user_id}`, or `noroute`. */
  readonly route: string
  /** By the names in the route. */
  readonly params: Readonly<Record<string, string>>
  readonly header: (name: string) => string | undefined
  readonly requestId: string
  /** Of whoever called, behind proxies. */
  readonly address: string
  readonly userAgent: string
  readonly grantType: string | undefined
  /** What new spans belong to, where the call is traced. */
  context?: Context
  traceId?: string
  /** What went wrong, so far. */
  failure?: ApiError
  /** Why a sign-in failed, and whose, where that is known. */
  signInFailure?: { readonly reason: string; readonly userId: string | undefined }
  /** What was written to the audit log, so far. */
  readonly audited: AuditNotice[]
  /** These two are known at the end. 499: the caller left before there was an answer. */
  status: number
  durationMs: number
}

export interface CallWatch {
  /** @returns what hears of the end. */
  begin(call: WatchedCall): () => void
}

/** The request that the running code works for. Undefined: none, or its work is not its own. */
export const currentCall = new AsyncLocalStorage<WatchedCall | undefined>()

/** For work that a request begins and nobody waits for. */
export function apartFromCall<Result>(work: () => Result): Result {
  return currentCall.run(undefined, work)
}
