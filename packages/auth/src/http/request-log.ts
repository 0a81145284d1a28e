import type { EventLog, LogLevel } from '@portcullis/service-kit/log/log'
import type { ApiError } from '../errors.ts'
import type { CallWatch, WatchedCall } from '../telemetry/watched-call.ts'

/** Writes one line per request, without the query and without secrets. */
export function createRequestLog(log: Pick<EventLog, 'event'>): CallWatch {
  return { begin: (call) => () => write(log, call) }
}

function write(log: Pick<EventLog, 'event'>, call: WatchedCall): void {
  // Health checks by load balancers are too frequent to log.
  if (call.route === '/health' || call.route === '/ready') return
  const { failure, status } = call
  log.event(toLevel(status), 'request completed', {
    component: 'api',
    method: call.method,
    path: call.path,
    route: call.route,
    remote_addr: call.address,
    referer: withoutQuery(call.header('referer')),
    grant_type: call.grantType,
    request_id: call.requestId,
    status,
    duration: Math.round(call.durationMs * 1e6),
    error_code: failure?.code,
    error: failure === undefined ? toDisconnectText(status) : toText(failure),
    auth_event: toEvent(call),
    trace_id: call.traceId,
  })
}

function toLevel(status: number): LogLevel {
  // Clients often disconnect early, for example when a page is closed.
  if (status === 499) return 'info'
  if (status >= 500) return 'error'
  return status >= 400 ? 'warning' : 'info'
}

function toDisconnectText(status: number): string | undefined {
  return status === 499 ? 'the client disconnected before the response' : undefined
}

/** The error message of a JSON parser quotes the input, which may contain a password. */
function toText({ code, message }: ApiError): string {
  return code === 'bad_json' ? message.replace(/:.*/s, '') : message
}

/**
 * Some browsers and most programs send the full URL, and links of this server contain tokens in the
 * query.
 */
function withoutQuery(referer: string | undefined): string | undefined {
  return referer?.replace(/[?#].*/s, '').slice(0, 512)
}

/** The audited action of the request, if any; details are in the audit log. */
function toEvent({ audited, signInFailure }: WatchedCall) {
  if (signInFailure !== undefined) {
    const { reason, userId } = signInFailure
    return { action: 'login_failed', reason, actor_id: userId, log_type: 'account' }
  }
  const payload = audited.at(-1)?.payload
  if (payload === undefined) return undefined
  const { action, actor_id, log_type } = payload
  return { action, actor_id, log_type }
}
