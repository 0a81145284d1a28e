import type { RequestHead } from '../http2/request-head.ts'
import type { Application, Route, Stream, StreamConnection } from '../http2/stream.ts'
import type { Methods, StreamMethod, UnaryMethod } from '../method.ts'
import { status } from '../status.ts'
import type { Report } from './handler-errors.ts'
import { MessageStream } from './message-stream.ts'
import { type Refusal, RefusedStream } from './refused-stream.ts'
import { parseTimeoutMs } from './timeout.ts'
import { UnaryStream } from './unary-stream.ts'

/** `application/grpc`, optionally followed by a message format or parameters. */
const GRPC_CONTENT_TYPE = /^application\/grpc(?:$|[+;])/i

class UnaryRoute implements Route {
  readonly #method: UnaryMethod
  readonly #timeoutMs: number
  readonly #report: Report

  constructor(method: UnaryMethod, timeoutMs: number, report: Report) {
    this.#method = method
    this.#timeoutMs = timeoutMs
    this.#report = report
  }

  open(connection: StreamConnection, id: number, head: RequestHead): Stream {
    return new UnaryStream(connection, id, head, this.#method, this.#timeoutMs, this.#report)
  }
}

class StreamRoute implements Route {
  readonly #method: StreamMethod
  readonly #timeoutMs: number
  readonly #report: Report

  constructor(method: StreamMethod, timeoutMs: number, report: Report) {
    this.#method = method
    this.#timeoutMs = timeoutMs
    this.#report = report
  }

  open(connection: StreamConnection, id: number, head: RequestHead): Stream {
    return new MessageStream(connection, id, head, this.#method, this.#timeoutMs, this.#report)
  }
}

class RefusalRoute implements Route {
  readonly #refusal: Refusal

  constructor(refusal: Refusal) {
    this.#refusal = refusal
  }

  open(connection: StreamConnection, id: number, head: RequestHead): Stream {
    return new RefusedStream(connection, id, head, this.#refusal)
  }
}

const NOT_POST = new RefusalRoute({
  kind: 'http',
  httpStatus: 405,
  text: 'gRPC calls use POST',
  fields: [['allow', 'POST']],
})

const NOT_GRPC = new RefusalRoute({
  kind: 'http',
  httpStatus: 415,
  text: 'this server accepts only content-type application/grpc',
})

const TOO_LARGE = new RefusalRoute({
  kind: 'grpc',
  httpStatus: 431,
  code: status.RESOURCE_EXHAUSTED,
  text: 'request header fields too large',
})

/** Finds the method for a request. */
export class Router implements Application {
  readonly tooLarge: Route = TOO_LARGE
  readonly #methods: ReadonlyMap<string, Methods[string]>
  readonly #services: ReadonlySet<string>
  readonly #report: Report

  constructor(methods: Methods, report: Report) {
    this.#methods = new Map(Object.entries(methods))
    this.#services = new Set(Object.keys(methods).map((path) => splitPath(path)?.service ?? ''))
    this.#report = report
  }

  route(head: RequestHead): Route {
    if (head.method !== 'POST') return NOT_POST
    if (!GRPC_CONTENT_TYPE.test(head.contentType)) return NOT_GRPC
    const timeoutMs = head.timeout === '' ? Number.POSITIVE_INFINITY : parseTimeoutMs(head.timeout)
    if (timeoutMs === undefined) return badTimeout(head.timeout)
    const method = this.#methods.get(head.path)
    if (method === undefined) return this.#unknown(head.path)
    return method.kind === 'unary'
      ? new UnaryRoute(method, timeoutMs, this.#report)
      : new StreamRoute(method, timeoutMs, this.#report)
  }

  #unknown(path: string): Route {
    const parts = splitPath(path)
    if (parts === undefined) return unimplemented(`malformed method name: "${path}"`)
    const { service, method } = parts
    return this.#services.has(service)
      ? unimplemented(`unknown method ${method} for service ${service}`)
      : unimplemented(`unknown service ${service}`)
  }
}

/** Splits `/service/method`; a service name may contain slashes, a method name may not. */
function splitPath(path: string): { service: string; method: string } | undefined {
  const slash = path.lastIndexOf('/')
  if (!path.startsWith('/') || slash < 1) return undefined
  return { service: path.slice(1, slash), method: path.slice(slash + 1) }
}

function unimplemented(text: string): Route {
  return new RefusalRoute({ kind: 'grpc', httpStatus: 200, code: status.UNIMPLEMENTED, text })
}

function badTimeout(value: string): Route {
  const text = `malformed grpc-timeout: "${value}"`
  return new RefusalRoute({ kind: 'grpc', httpStatus: 400, code: status.INTERNAL, text })
}
