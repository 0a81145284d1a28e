import type { ProfileName } from '../profiles.ts'
import { type Audit, type AuditResult, type AuditRow, runAudits, toAudit } from './audit.ts'
import type { AuditFetch } from './audit-request.ts'
import { draft2026 } from './draft-2026.ts'
import { extended } from './extended.ts'
import { mediaTypes } from './media-types.ts'
import { methods } from './methods.ts'
import { parameters } from './parameters.ts'
import { responses } from './responses.ts'
import { canOmitAccept } from './without-accept.ts'

/** Options of {@link serverAudits} and {@link auditServer}. */
export interface ServerAuditOptions {
  /** Address of the GraphQL endpoint. A function is called for every audit. */
  url: string | Promise<string> | (() => string | Promise<string>)
  /** Sends the requests. Default: the global `fetch`, taken when an audit runs. */
  fetchFn?: AuditFetch | undefined
  /**
   * The options for the global `fetch`; unused with a `fetchFn`. `{ redirect: 'manual' }` audits
   * only this server and does not follow redirects to others, which would receive the `headers` as
   * well.
   */
  fetchInit?:
    | { readonly redirect?: 'error' | 'follow' | 'manual'; readonly signal?: AbortSignal }
    | undefined
  /**
   * Headers to add to every request, for example for authorization. `accept` and `content-type` are
   * not allowed, because the audits set them.
   */
  headers?: { readonly [name: string]: string } | undefined
  /**
   * The status codes to require. `classic`, the default, is what graphql-http and the drafts of the
   * HTTP spec up to 2025 require. `2026` is the draft of August 2026: it leaves out the 22 audits
   * that this draft contradicts and appends audits for its new requirements.
   */
  profile?: ProfileName | undefined
  /**
   * Append the audits `X1..`, variants of audits among the 61 that cannot test what their names
   * say. `X101` needs a request without an `accept` header, which no `fetch` can send, so it is
   * included only on runtimes with `node:http` and without a `fetchFn`.
   */
  extended?: boolean | undefined
}

const base: readonly AuditRow[] = [...mediaTypes, ...methods, ...parameters, ...responses]

/**
 * Returns the audits for a GraphQL server. Without further options these are exactly the 61 of
 * graphql-http, with their ids and names and in their order. Nothing is sent until an audit is run.
 *
 * @example
 * ```ts
 * import { test } from 'node:test'
 * import { serverAudits } from '@portcullis/graphql-over-http/audits'
 *
 * for (const audit of serverAudits({ url: 'http://localhost:4000/graphql' })) {
 *   test(audit.name, async () => {
 *     const result = await audit.fn()
 *     if (result.status === 'ok') return
 *     await result.body?.cancel()
 *     if (result.status === 'error') throw new Error(result.reason)
 *     console.warn(result.reason)
 *   })
 * }
 * ```
 */
export function serverAudits(options: ServerAuditOptions): Audit[] {
  checkOptions(options)
  const { url, fetchFn, fetchInit, headers = {}, profile = 'classic' } = options
  const globalFetch: AuditFetch = (address, init) => fetch(address, { ...init, ...fetchInit })
  const target = { url, headers, fetchFn: fetchFn ?? globalFetch }
  const rows = [
    ...base,
    ...(options.extended ? extended : []),
    ...(profile === '2026' ? draft2026 : []),
  ]
  return rows
    .filter((row) => row.profile === undefined || row.profile === profile)
    .filter(({ request }) => request.wire !== 'without-accept' || (!fetchFn && canOmitAccept()))
    .map((row) => toAudit(row, target))
}

/**
 * Runs all audits and resolves to their results in order. Rejects when an audit gets no response to
 * judge. If the server responds with 429, waits up to half a minute in total. Cancel the `body` of
 * each failed result that you do not read.
 */
export function auditServer(options: ServerAuditOptions): Promise<AuditResult[]> {
  const audits = serverAudits(options)
  return runAudits(audits, { concurrency: audits.length, mostWaitMs: 30_000 })
}

function checkOptions(options: ServerAuditOptions): void {
  const { url, fetchFn, headers, profile } = options ?? {}
  if (!url) {
    throw new TypeError("The option `url` is missing: give the endpoint's address, as in { url }")
  }
  if (fetchFn !== undefined && typeof fetchFn !== 'function') {
    throw new TypeError('The option `fetchFn` must be a function like fetch')
  }
  if (profile !== undefined && profile !== 'classic' && profile !== '2026') {
    throw new TypeError("The option `profile` must be 'classic' or '2026'")
  }
  for (const name of Object.keys(headers ?? {})) {
    if (/^(accept|content-type)$/i.test(name)) {
      throw new TypeError(
        `The option \`headers\` cannot contain ${name}: the audits set that header themselves`,
      )
    }
  }
}
