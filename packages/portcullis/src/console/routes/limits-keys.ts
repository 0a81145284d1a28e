import { ConsoleError } from '../errors.ts'
import {
  type CounterState,
  type CounterTarget,
  readCounter,
  readTopKeys,
  resetCounter,
  type TopKey,
  type TopKeys,
} from '../limits/key-pages.ts'
import { createLivePoll } from '../limits/live-poll.ts'
import { createHistoryRecorder, type HistoryState } from '../limits/record-history.ts'
import { type HistoryRange, historyRangeNames } from '../limits/rule-history.ts'
import { createWatchRunner } from '../overview/watch.ts'
import type { AddRoutes } from '../settings.ts'

export type { CounterState, CounterTarget, HistoryRange, HistoryState, TopKey, TopKeys }

/** Both lists, sent about once a second. */
export interface TopUpdate {
  readonly limited: TopKeys
  readonly calls: TopKeys
}

/** Why the lists are not updated. */
export interface TopFailure {
  readonly message: string
}

const listLength = 50
const historyIntervalMs = 10_000

const counterBody = {
  type: 'object',
  required: ['domain', 'entries'],
  additionalProperties: false,
  properties: {
    domain: { type: 'string', minLength: 1, maxLength: 4_096 },
    entries: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        type: 'object',
        required: ['key', 'value'],
        additionalProperties: false,
        properties: {
          key: { type: 'string', maxLength: 4_096 },
          value: { type: 'string', maxLength: 4_096 },
        },
      },
    },
  },
}
const historyQuery = {
  type: 'object',
  required: ['rule'],
  properties: {
    rule: { type: 'string', minLength: 1 },
    range: { type: 'string', enum: [...historyRangeNames], default: '1h' },
  },
}

/** Serves the keys with the most hits, the counter of each key, and the history of each rule. */
export const addRoutes: AddRoutes = (server, { ratelimit, streams }) => {
  if (ratelimit === undefined) return
  const top = createLivePoll<TopUpdate>({
    async read() {
      const [limited, calls] = await Promise.all([
        readTopKeys(ratelimit, 'limited', listLength),
        readTopKeys(ratelimit, 'calls', listLength),
      ])
      return { limited, calls }
    },
  })
  const recorder = createHistoryRecorder(ratelimit)
  const recording = createWatchRunner(
    { intervalMs: historyIntervalMs, state: () => undefined, refresh: () => recorder.refresh() },
    () => {},
  )(historyIntervalMs)
  server.addHook('onClose', async () => {
    recording.stop()
    recorder[Symbol.dispose]()
  })

  server.get('/api/limits/top', (_request, reply) => {
    const stream = streams.open(reply)
    const stop = top.listen({
      onUpdate: (update) => stream.send('top', update),
      onError: (error) => stream.send('failure', toFailure(error)),
    })
    stream.closed.addEventListener('abort', stop)
  })

  server.post<{ Body: CounterTarget }>(
    '/api/limits/counter',
    { schema: { body: counterBody } },
    async ({ body }): Promise<CounterState> => readCounter(ratelimit, body),
  )

  server.post<{ Body: CounterTarget }>(
    '/api/limits/counter/reset',
    { schema: { body: counterBody } },
    async ({ body }): Promise<CounterState> => resetCounter(ratelimit, body),
  )

  server.get<{ Querystring: { rule: string; range: HistoryRange } }>(
    '/api/limits/history',
    { schema: { querystring: historyQuery } },
    async ({ query }): Promise<HistoryState> => {
      // The chart includes the hits until now, not only those until the last regular reading.
      await recorder.refresh()
      return recorder.read(query.rule, query.range)
    },
  )
}

function toFailure(error: unknown): TopFailure {
  if (error instanceof ConsoleError) return { message: error.message }
  console.error('The keys with the most hits could not be read:', error)
  return { message: 'The keys could not be read. See the terminal for details.' }
}
