import { reportFailure } from './error-responses.ts'

type IsHost = (first: unknown, second: unknown) => boolean

type Parts = { readonly [name: string]: unknown } | null | undefined

const has = (value: unknown, ...names: readonly string[]): boolean =>
  names.every((name) => Boolean((value as Parts)?.[name]))

/**
 * Every adapter by its file name, with a function that recognizes the arguments of its host. The
 * most specific adapters come first.
 */
const HOSTS: readonly (readonly [host: string, IsHost])[] = [
  ['fastify', (_first, second) => has(second, 'hijack', 'send')],
  ['koa', (first) => has(first, 'req', 'res', 'request', 'response')],
  ['hono', (first) => has((first as Parts)?.['req'], 'raw')],
  ['uws', (first) => has(first, 'onAborted', 'onData')],
  ['express', (first, second) => has(first, 'app') && isNodeResponse(second)],
  ['http2', (_first, second) => isNodeResponse(second) && has(second, 'stream')],
  ['http', (_first, second) => isNodeResponse(second)],
  ['netlify', (first) => has(first, 'httpMethod', 'rawUrl')],
  ['aws-lambda', (first) => has(first, 'requestContext')],
  ['fetch', (first) => has((first as Parts)?.['headers'], 'get')],
]

/** The file names of the adapters. */
export const hostNames: readonly string[] = HOSTS.map(([host]) => host)

const isNodeResponse = (value: unknown): boolean => has(value, 'writeHead', 'end')

/**
 * Refuses a request from a host that needs another adapter. A Node response gets 500, since it
 * would otherwise never end; elsewhere the error rejects the handler's promise.
 */
export function refuseHost(adapter: string, first: unknown, second: unknown): void {
  const [actual] = HOSTS.find(([, isHost]) => isHost(first, second)) ?? []
  const name = '@portcullis/graphql-over-http/use'
  const error = new TypeError(
    actual && actual !== adapter
      ? `The handler of "${name}/${adapter}" was called with the arguments of another host. ` +
          `Import createHandler from "${name}/${actual}" instead.`
      : `The handler of "${name}/${adapter}" was called with arguments that are not those of its ` +
          'host. See the table of hosts in the manual.',
  )
  if (!isNodeResponse(second)) throw error
  reportFailure(error)
  const res = second as { writeHead(status: number): unknown; end(): unknown }
  res.writeHead(500)
  res.end()
}

/**
 * Whether the arguments are a request and a response of Node, or of a framework that extends them.
 */
export function isNodeExchange(
  req: { readonly on?: unknown } | undefined,
  res: { readonly writeHead?: unknown } | undefined,
): boolean {
  return req?.on !== undefined && res?.writeHead !== undefined
}
