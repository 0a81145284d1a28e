import {
  createHandler as createLambdaHandler,
  type HttpApiEvent,
  type LambdaContext,
  type LambdaEvent,
  type LambdaResult,
  type ProxyEvent,
} from '../../../src/adapters/aws-lambda.ts'
import {
  createHandler as createNetlifyHandler,
  type HandlerResponse,
} from '../../../src/adapters/netlify.ts'
import type { Host, Limits } from './host.ts'
import { mount } from './mount.ts'
import { openProbe } from './probe.ts'

const context: LambdaContext = {
  functionName: 'graphql',
  awsRequestId: 'a-request',
  getRemainingTimeInMillis: () => 1000,
}

/** The parts of a request, as the platforms see them. */
interface Incoming {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: Buffer | null
}

const decodesBodyItself = 'the body is a text in the event'

export const serverlessHosts: readonly Host[] = [
  serverlessHost('netlify', createNetlifyHandler, ({ url, method, headers, body }) => ({
    httpMethod: method,
    rawUrl: url.href,
    headers: toTitleCase(headers),
    body: body?.toString('base64') ?? null,
    isBase64Encoded: true,
  })),
  serverlessHost('aws-lambda, REST API', createLambdaHandler, toRestEvent, { decodesBodyItself }),
  serverlessHost('aws-lambda, HTTP API', createLambdaHandler, toHttpApiEvent),
  serverlessHost('aws-lambda, load balancer', createLambdaHandler, toBalancerEvent, {
    decodesBodyItself,
  }),
  serverlessHost('aws-lambda, load balancer with lists', createLambdaHandler, toBalancerListEvent),
]

function toRestEvent({ url, method, headers, body }: Incoming): LambdaEvent {
  return {
    httpMethod: method,
    path: url.pathname,
    headers: toTitleCase(headers),
    multiValueHeaders: toLists(toTitleCase(headers)),
    queryStringParameters: Object.fromEntries(url.searchParams),
    multiValueQueryStringParameters: url.search
      ? toLists(Object.fromEntries(url.searchParams))
      : null,
    requestContext: { stage: 'prod' },
    body: body?.toString() ?? null,
    isBase64Encoded: false,
  } satisfies ProxyEvent
}

function toHttpApiEvent({ url, method, headers, body }: Incoming): LambdaEvent {
  return {
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers: Object.fromEntries(headers),
    requestContext: { http: { method } },
    ...(body && { body: body.toString('base64') }),
    isBase64Encoded: body !== null,
  } satisfies HttpApiEvent
}

function toBalancerEvent({ url, method, headers, body }: Incoming): LambdaEvent {
  return {
    httpMethod: method,
    path: url.pathname,
    headers: Object.fromEntries(headers),
    queryStringParameters: toRawQuery(url),
    requestContext: { elb: { targetGroupArn: 'an-arn' } },
    body: body === null ? '' : body.toString(),
    isBase64Encoded: false,
  } satisfies ProxyEvent
}

function toBalancerListEvent({ url, method, headers, body }: Incoming): LambdaEvent {
  return {
    httpMethod: method,
    path: url.pathname,
    multiValueHeaders: toLists(Object.fromEntries(headers)),
    multiValueQueryStringParameters: toLists(toRawQuery(url)),
    requestContext: { elb: { targetGroupArn: 'an-arn' } },
    body: body === null ? '' : body.toString('base64'),
    isBase64Encoded: body !== null,
  } satisfies ProxyEvent
}

function serverlessHost<RequestContext, Event>(
  name: string,
  createHandler: Parameters<
    typeof mount<
      RequestContext,
      [Event, LambdaContext],
      Promise<HandlerResponse & Partial<LambdaResult>>
    >
  >[2],
  toEvent: (incoming: Incoming) => Event,
  limits: Limits = {},
): Host {
  return {
    name,
    transport: 'none',
    limits: {
      noResponseHandle: 'a function returns its response',
      noContentLength: 'the platform adds it',
      noStatusText: 'the platform chooses it',
      ...limits,
    },
    async open() {
      const probe = openProbe()
      const handlers = mount(probe, undefined, createHandler)
      return {
        origin: 'http://localhost',
        port: 0,
        async fetch(input, init) {
          const request = new Request(input, init)
          const url = new URL(request.url)
          const handler = handlers.get(url.pathname)
          if (!handler) return new Response(null, { status: 404 })
          const body = request.body === null ? null : Buffer.from(await request.arrayBuffer())
          const { method, headers } = request
          const result = await handler(toEvent({ url, method, headers, body }), context)
          return new Response(result.body || null, {
            status: result.statusCode,
            headers: result.headers ?? fromLists(result.multiValueHeaders ?? {}),
          })
        },
        take: async () => probe.take(),
        close: async () => probe.close(),
      }
    },
  }
}

function toTitleCase(headers: Headers): { [name: string]: string } {
  const titled: { [name: string]: string } = {}
  for (const [name, value] of headers) {
    titled[name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())] = value
  }
  return titled
}

function toLists(single: { [name: string]: string }): { [name: string]: string[] } {
  return Object.fromEntries(Object.entries(single).map(([name, value]) => [name, [value]]))
}

function fromLists(lists: { [name: string]: string[] }): [string, string][] {
  return Object.entries(lists).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  )
}

/** Names and values of a query as sent, since a load balancer does not decode them. */
function toRawQuery(url: URL): { [name: string]: string } {
  const raw: { [name: string]: string } = {}
  for (const pair of url.search.slice(1).split('&')) {
    const [name, value = ''] = pair.split('=')
    if (name) raw[name] = value
  }
  return raw
}
