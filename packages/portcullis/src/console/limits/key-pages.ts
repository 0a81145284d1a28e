import { ConsoleError } from '../errors.ts'
import { callUpstream } from '../upstream.ts'
import { type DebugTarget, serviceName, toTokenHeaders } from './statistics.ts'

/** The order of a list of keys: by hits over the limit, or by all hits. */
export const topOrders = ['limited', 'calls'] as const
export type TopOrder = (typeof topOrders)[number]

interface KeyEntry {
  readonly key: string
  readonly value: string
}

/** Identifies a counter in the same way as a request does. */
export interface CounterTarget {
  readonly domain: string
  readonly entries: readonly KeyEntry[]
}

/** The response of the page `/top` of the debug port. */
export interface TopKeys {
  readonly by: TopOrder
  /** When counting began, in ISO 8601, and how many seconds ago that was. */
  readonly since: string
  readonly seconds: number
  /** Whether the service sampled the requests, so that the numbers are estimates. */
  readonly isEstimate: boolean
  /** The highest number that a key can have if the service does not list it. */
  readonly floor: number
  readonly keys: readonly TopKey[]
}

export interface TopKey extends CounterTarget {
  readonly rule: string | null
  /** Such as `5 per minute`. */
  readonly limit: string | null
  /** Lower bounds. */
  readonly hits: number
  readonly limited: number
  /** The upper bound of the number that the list is ordered by. */
  readonly most: number
  /** Whether the counter can be read and reset. */
  readonly canInspect: boolean
}

/** The response of the page `/counter` of the debug port. */
export interface CounterState extends CounterTarget {
  /** The name of the counter in the store, up to its window. */
  readonly key: string
  readonly store: string
  readonly rule: string
  readonly limitText: string
  readonly algorithm: string
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly limit: number
  readonly windowSeconds: number
  /** Seconds since the epoch. */
  readonly windowStart: number
  readonly hits: number
  readonly remaining: number
  readonly isOver: boolean
  readonly resetSeconds: number
}

export async function readTopKeys(
  target: DebugTarget,
  order: TopOrder,
  count: number,
): Promise<TopKeys> {
  return await callPage(target, '/top', new URLSearchParams({ by: order, n: `${count}` }))
}

export async function readCounter(
  target: DebugTarget,
  counter: CounterTarget,
): Promise<CounterState> {
  return await callPage(target, '/counter', toQuery(counter))
}

/** Sets the counter to 0 and returns its new state. */
export async function resetCounter(
  target: DebugTarget,
  counter: CounterTarget,
): Promise<CounterState> {
  return await callPage(target, '/counter/reset', toQuery(counter), 'POST')
}

/** Returns the message for the user if a call failed for a known reason. */
export function toCallFailure(error: unknown): string | undefined {
  return error instanceof ConsoleError ? error.message : undefined
}

function toQuery({ domain, entries }: CounterTarget): URLSearchParams {
  const pairs = entries.flatMap(({ key, value }) => [
    ['key', key],
    ['value', value],
  ])
  return new URLSearchParams([['domain', domain], ...pairs])
}

/** @throws {ConsoleError} with the message of the service if it refuses the call */
async function callPage<Body>(
  { debugUrl, debugToken }: DebugTarget,
  path: string,
  query: URLSearchParams,
  method = 'GET',
): Promise<Body> {
  const answer = await callUpstream(serviceName, `${debugUrl}${path}?${query}`, {
    method,
    headers: {
      accept: 'application/json',
      ...toTokenHeaders({ debugToken }),
    },
  })
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
  if (isJson && answer.ok) return (await answer.json()) as Body
  if (isJson) {
    const { error }: { error?: string } = await answer.json()
    const status = answer.status < 500 ? answer.status : 502
    throw new ConsoleError(status, 'key_refused', error ?? `Unexpected status ${answer.status}.`)
  }
  await answer.body?.cancel()
  throw answer.status === 403 ? noToken : noPages
}

const noToken = new ConsoleError(
  502,
  'debug_token_missing',
  'The debug port of the rate limit service shows its keys to other machines only with its DEBUG_TOKEN. ' +
    'Set PORTCULLIS_DEBUG_TOKEN to the value of DEBUG_TOKEN, and start portcullis again.',
)

const noPages = new ConsoleError(
  502,
  'no_key_pages',
  'The rate limit service does not show its keys: its debug port has no pages /top and /counter. ' +
    'envoyproxy/ratelimit and earlier versions of Portcullis do not have them.',
)
