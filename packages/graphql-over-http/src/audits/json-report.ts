import {
  type AuditFail,
  type AuditName,
  type AuditOk,
  type AuditRequirement,
  type AuditResult,
  toLevel,
} from './audit.ts'

/** The fields of a passed audit that reports use. */
export type ReportedOk = Pick<AuditOk, 'id' | 'name' | 'level' | 'status'>

/** The fields of a failed audit that reports use. */
export type ReportedFail = Pick<
  AuditFail,
  'id' | 'name' | 'level' | 'status' | 'reason' | 'response'
>

/** A result to report. Results of graphql-http, or written by hand, have no level. */
export type ReportableResult =
  | (Omit<ReportedOk, 'level'> & { readonly level?: AuditRequirement })
  | (Omit<ReportedFail, 'level' | 'status'> & {
      readonly level?: AuditRequirement
      readonly status: ReportedFail['status'] | 'notice'
    })

/** Derives the level from the status of a failure where the level is missing. */
export function toReported(result: ReportableResult): ReportedOk | ReportedFail {
  if (result.status === 'ok') return { ...result, level: result.level ?? toLevel(result.name) }
  const level = result.level ?? LEVELS[result.status]
  return { ...result, level, status: result.status === 'notice' ? 'warn' : result.status }
}

const LEVELS = { error: 'MUST', warn: 'SHOULD', notice: 'MAY' } as const

/** How many audits had which result. */
export interface AuditCounts {
  /** All audits that were run. */
  readonly total: number
  /** The audits that the server passed. */
  readonly ok: number
  /** The failed audits that the server should or may pass. */
  readonly warn: number
  /** The failed audits that the server must pass. */
  readonly error: number
}

/** The results of audits as plain data. */
export interface AuditReport extends AuditCounts {
  /** The counts of each requirement level. */
  readonly levels: { readonly [level in AuditRequirement]: AuditCounts }
  /** An entry for each audit, in the order in which they were given. */
  readonly audits: readonly {
    readonly id: string
    readonly name: AuditName
    readonly level: AuditRequirement
    readonly status: AuditResult['status']
    readonly reason?: string
  }[]
}

/** Counts the results and converts each to plain data, without its response. */
export function toAuditReport(given: readonly ReportableResult[]): AuditReport {
  const results = given.map(toReported)
  const ofLevel = (level: AuditRequirement) => results.filter((result) => result.level === level)
  return {
    ...count(results),
    levels: {
      MUST: count(ofLevel('MUST')),
      SHOULD: count(ofLevel('SHOULD')),
      MAY: count(ofLevel('MAY')),
    },
    audits: results.map((result) => {
      const { id, name, level, status } = result
      return { id, name, level, status, ...(status !== 'ok' && { reason: result.reason }) }
    }),
  }
}

/** Renders results as JSON: the counts, and an entry for each audit with its reason. */
export function renderAuditResultsToJSON(results: readonly ReportableResult[]): string {
  return JSON.stringify(toAuditReport(results), null, 2)
}

function count(results: readonly { readonly status: AuditResult['status'] }[]): AuditCounts {
  const having = (status: AuditResult['status']) =>
    results.filter((result) => result.status === status).length
  return { total: results.length, ok: having('ok'), warn: having('warn'), error: having('error') }
}
