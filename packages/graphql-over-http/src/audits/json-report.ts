import type { AuditName, AuditRequirement, AuditResult } from './audit.ts'
import { type ReportableResult, toReported } from './reported-result.ts'

/** How many audits had which result. */
export interface AuditCounts {
  /** All audits that were run. */
  readonly total: number
  /** Those that the server passed. */
  readonly ok: number
  /** Those that it should or may pass, and failed. */
  readonly warn: number
  /** Those that it must pass, and failed. */
  readonly error: number
}

/** The results of audits as plain data. */
export interface AuditReport extends AuditCounts {
  /** The counts of each requirement level. */
  readonly levels: { readonly [level in AuditRequirement]: AuditCounts }
  /** An entry for each audit, in their order. */
  readonly audits: readonly {
    readonly id: string
    readonly name: AuditName
    readonly level: AuditRequirement
    readonly status: AuditResult['status']
    readonly reason?: string
  }[]
}

/** Counts, and one plain entry per result: no responses, nothing to close. */
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

/** Writes results as JSON text: the counts, and an entry for each audit with its reason. */
export function renderAuditResultsToJSON(results: readonly ReportableResult[]): string {
  return JSON.stringify(toAuditReport(results), null, 2)
}

function count(results: readonly { readonly status: AuditResult['status'] }[]): AuditCounts {
  const having = (status: AuditResult['status']) =>
    results.filter((result) => result.status === status).length
  return { total: results.length, ok: having('ok'), warn: having('warn'), error: having('error') }
}
