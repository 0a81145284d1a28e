import { type AuditFail, type AuditOk, type AuditRequirement, toLevel } from './audit.ts'

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
