import { type AuditFail, type AuditOk, type AuditRequirement, toLevel } from './audit.ts'

/** What a report says of a passed audit. */
export type ReportedOk = Pick<AuditOk, 'id' | 'name' | 'level' | 'status'>

/** What a report says of a failed audit. */
export type ReportedFail = Pick<
  AuditFail,
  'id' | 'name' | 'level' | 'status' | 'reason' | 'response'
>

/** A result to report: also one of graphql-http, or written by hand, which have no level. */
export type ReportableResult =
  | (Omit<ReportedOk, 'level'> & { readonly level?: AuditRequirement })
  | (Omit<ReportedFail, 'level' | 'status'> & {
      readonly level?: AuditRequirement
      readonly status: ReportedFail['status'] | 'notice'
    })

/** Adds the level where it is missing: then the status of a failure tells it. */
export function toReported(result: ReportableResult): ReportedOk | ReportedFail {
  if (result.status === 'ok') return { ...result, level: result.level ?? toLevel(result.name) }
  const level = result.level ?? LEVELS[result.status]
  return { ...result, level, status: result.status === 'notice' ? 'warn' : result.status }
}

const LEVELS = { error: 'MUST', warn: 'SHOULD', notice: 'MAY' } as const
