import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '@portcullis/service-kit/log/log'
import { type TopOrder, topOrders } from '../../stats/top/top-list.ts'
import { sendText } from '../http-listener.ts'
import type { DebugEndpoint } from './endpoint.ts'
import { type CounterTarget, type KeyAccess, KeyError } from './key-access.ts'
import { toCounterText, toTopAnswer, toTopText } from './key-texts.ts'

const defaultCount = 20
const mostCount = 1_000

interface Answer {
  /** The response as JSON. */
  readonly value: unknown
  readonly toText: () => string
}

/** The pages about keys and their counters. They contain values of requests, so other machines need a token for them. */
export function createKeyEndpoints(access: KeyAccess, log: Log): DebugEndpoint[] {
  const toHandler =
    (method: 'GET' | 'POST', answer: (query: URLSearchParams) => Promise<Answer>) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      const isAllowed = request.method === method || (method === 'GET' && request.method === 'HEAD')
      if (!isAllowed) {
        response.setHeader('allow', method)
        sendText(response, 405, `Method ${request.method} is not allowed; use ${method}.\n`)
        return
      }
      const query = toQuery(request)
      const wantsJson =
        query.get('format') === 'json' ||
        request.headers.accept?.includes('application/json') === true
      answer(query).then(
        ({ value, toText }) =>
          wantsJson ? sendJson(response, 200, value) : sendText(response, 200, toText()),
        (error: unknown) => {
          if (!(error instanceof KeyError)) {
            log.error(`The debug listener could not respond: ${String(error)}`)
          }
          const { status, message } =
            error instanceof KeyError ? error : { status: 500, message: 'Internal Server Error' }
          if (wantsJson) sendJson(response, status, { error: message })
          else sendText(response, status, `${message}\n`)
        },
      )
    }

  const showCounter =
    (run: (target: CounterTarget) => ReturnType<KeyAccess['inspect']>) =>
    async (query: URLSearchParams): Promise<Answer> => {
      const state = await run(parseTarget(query))
      return { value: state, toText: () => toCounterText(state) }
    }

  return [
    {
      path: '/counter',
      help: 'print out one counter: ?domain=D&key=K&value=V (repeat key and value for each entry)',
      isGuarded: true,
      handle: toHandler(
        'GET',
        showCounter((target) => access.inspect(target)),
      ),
    },
    {
      path: '/counter/reset',
      help: 'set one counter to 0 (POST, with the parameters of /counter)',
      isGuarded: true,
      handle: toHandler(
        'POST',
        showCounter((target) => access.reset(target)),
      ),
    },
    {
      path: '/top',
      help: 'print out the keys with the most hits: ?by=limited|calls&n=20',
      isGuarded: true,
      handle: toHandler('GET', async (query) => {
        const order = parseOrder(query)
        const count = parseCount(query)
        const top = toTopAnswer(await access.top(order), order, count, Date.now())
        return { value: top, toText: () => toTopText(top) }
      }),
    },
  ]
}

function toQuery({ url = '' }: IncomingMessage): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at))
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return
  const text = `${JSON.stringify(value)}\n`
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

function parseOrder(query: URLSearchParams): TopOrder {
  const text = query.get('by') ?? 'limited'
  const order = topOrders.find((each) => each === text)
  if (order === undefined) throw new KeyError(400, `by must be one of: ${topOrders.join(', ')}`)
  return order
}

function parseCount(query: URLSearchParams): number {
  const text = query.get('n') ?? `${defaultCount}`
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > mostCount) {
    throw new KeyError(400, `n must be a number from 1 to ${mostCount}`)
  }
  return count
}

function parseTarget(query: URLSearchParams): CounterTarget {
  const domain = query.get('domain') ?? ''
  const keys = query.getAll('key')
  const values = query.getAll('value')
  if (domain === '') throw new KeyError(400, 'domain is missing')
  if (keys.length === 0) throw new KeyError(400, 'key is missing: add key and value for each entry')
  if (keys.length !== values.length) {
    throw new KeyError(
      400,
      `each key needs a value (keys: ${keys.length}, values: ${values.length})`,
    )
  }
  return { domain, entries: keys.map((key, index) => ({ key, value: values[index] ?? '' })) }
}
