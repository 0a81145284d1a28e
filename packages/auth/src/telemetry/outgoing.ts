import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { currentCall } from './watched-call.ts'

/** The properties of a `fetch` request in diagnostics channels. */
interface FetchRequest {
  readonly origin: string | URL
  readonly method: string
  addHeader(name: string, value: string): void
}

type Listener = (message: unknown) => void

/**
 * Traces outgoing requests to providers, hooks and gateways: each gets a span, and the trace
 * context is propagated. Node.js publishes them on diagnostics channels, so callers need no code
 * for it. Only the host of the URL is recorded, because some services expect secrets in the query.
 */
export function traceOutgoing(tracer: Tracer, propagator: TextMapPropagator): Disposable {
  const spans = new WeakMap<object, Span>()

  const begin = (
    request: object,
    method: string,
    { hostname, port }: Pick<URL, 'hostname' | 'port'>,
    addHeader: (name: string, value: string) => void,
  ): void => {
    const parent = currentCall.getStore()?.context
    if (parent === undefined) return
    const attributes: Attributes = { 'http.request.method': method, 'server.address': hostname }
    if (port !== '') attributes['server.port'] = Number(port)
    const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, parent)
    spans.set(request, span)
    inject(trace.setSpan(parent, span), addHeader)
  }
  const inject = (context: Context, addHeader: (name: string, value: string) => void): void => {
    propagator.inject(context, addHeader, { set: (add, name, value) => add(name, value) })
  }
  const end = (request: object, status: number | undefined): void => {
    const span = spans.get(request)
    if (span === undefined) return
    spans.delete(request)
    if (status !== undefined) span.setAttribute('http.response.status_code', status)
    if (status === undefined || status >= 400) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }

  const listeners: Readonly<Record<string, Listener>> = {
    'undici:request:create': (message) => {
      const { request } = message as { readonly request: FetchRequest }
      begin(request, request.method, new URL(request.origin), (name, value) =>
        request.addHeader(name, value),
      )
    },
    'undici:request:headers': (message) => {
      const { request, response } = message as {
        readonly request: FetchRequest
        readonly response: { readonly statusCode: number }
      }
      end(request, response.statusCode)
    },
    'undici:request:error': (message) => {
      end((message as { readonly request: FetchRequest }).request, undefined)
    },
    'http.client.request.created': (message) => {
      const { request } = message as { readonly request: ClientRequest }
      const url = URL.parse(`${request.protocol}//${request.getHeader('host')}`)
      if (url === null || request.headersSent) return
      begin(request, request.method, url, (name, value) => request.setHeader(name, value))
    },
    'http.client.response.finish': (message) => {
      const { request, response } = message as {
        readonly request: ClientRequest
        readonly response: IncomingMessage
      }
      end(request, response.statusCode)
    },
    'http.client.request.error': (message) => {
      end((message as { readonly request: ClientRequest }).request, undefined)
    },
  }
  for (const [name, listener] of Object.entries(listeners)) subscribe(name, listener)
  return {
    [Symbol.dispose]() {
      for (const [name, listener] of Object.entries(listeners)) unsubscribe(name, listener)
    },
  }
}
