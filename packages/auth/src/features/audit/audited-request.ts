/** The request that caused an audit entry or a failed sign-in. */
export interface AuditedRequest {
  readonly requestId: string
  readonly userAgent: string
}

let findRequest: () => AuditedRequest | undefined = () => undefined

/**
 * Sets how the current request is found. The server calls it at start: most functions that write entries do not know
 * the request, and features do not import telemetry, which does.
 */
export function setRequestFinder(find: () => AuditedRequest | undefined): void {
  findRequest = find
}

/** Clients choose the value, so its length is limited. Those of browsers are shorter. */
const longestUserAgent = 256

/** The fields that entries store about their request. Both are empty for background work and commands. */
export function describeRequest(): { readonly user_agent: string; readonly request_id: string } {
  const { requestId = '', userAgent = '' } = findRequest() ?? {}
  return { user_agent: userAgent.slice(0, longestUserAgent), request_id: requestId }
}
