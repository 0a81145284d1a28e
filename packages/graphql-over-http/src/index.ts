export {
  type Audit,
  type AuditFail,
  type AuditName,
  type AuditOk,
  type AuditRequirement,
  type AuditResult,
  auditServer,
  renderAuditResultsToHTML,
  renderAuditResultsToJSON,
  type ServerAuditOptions,
  serverAudits,
} from './audits/index.ts'
export {
  type Client,
  type ClientHeaders,
  type ClientOptions,
  createClient,
  type FetchFn,
  type FetchInit,
  type FetchResponse,
} from './client.ts'
export { createHandler, type Handler } from './handler.ts'
export { NetworkError, type ResponseLike } from './network-error.ts'
export type {
  FormatError,
  HandlerOptions,
  OperationArgs,
  OperationContext,
  ParseRequestParams,
  PersistedDocumentParams,
} from './options.ts'
export { parseRequestParams } from './params.ts'
export type { ProfileName } from './profiles.ts'
export type {
  Request,
  RequestHeaders,
  RequestParams,
  Response,
  ResponseBody,
  ResponseHeaders,
  ResponseInit,
  Sink,
} from './request.ts'
