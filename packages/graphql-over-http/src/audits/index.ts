export {
  type Audit,
  type AuditFail,
  type AuditName,
  type AuditOk,
  type AuditRequirement,
  type AuditResult,
  discardBodies,
  type RunOptions,
  runAudits,
} from './audit.ts'
export type { AuditFetch, AuditRequest } from './audit-request.ts'
export { renderAuditResultsToHTML } from './html-report.ts'
export type { ReportableResult } from './json-report.ts'
export {
  type AuditCounts,
  type AuditReport,
  renderAuditResultsToJSON,
  toAuditReport,
} from './json-report.ts'
export { RateLimitedError } from './rate-limited.ts'
export { auditServer, type ServerAuditOptions, serverAudits } from './server-audits.ts'
