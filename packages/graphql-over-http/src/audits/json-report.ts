import type { AuditName, AuditRequirement, AuditResult } from './audit.ts'
import { type ReportableResult, toReported } from './reported-result.ts'

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
