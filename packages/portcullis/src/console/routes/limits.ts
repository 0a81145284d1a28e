import { ConsoleError } from '../errors.ts'
import { type DecisionAnswer, type DecisionRequest, requestDecision } from '../limits/decisions.ts'
import { addFileRoutes } from '../limits/file-routes.ts'
import { type CounterUpdate, createLiveCounters, type LiveCounts } from '../limits/live-counters.ts'
import {
  type RuleBook,
  readRuleBook,
  type ShownDomain,
  type ShownRule,
} from '../limits/rule-book.ts'
import { readCounters } from '../limits/statistics.ts'
import type { AddRoutes } from '../settings.ts'

export type {
  CheckedFile,
  DraftReview,
  LimitChange,
  LimitRequest,
  ListedFile,
  LoadReport,
  PolicyTestRun,
  SavedFile,
  TestFileReport,
  TextFinding,
} from '../limits/file-routes.ts'
export type {
  CounterUpdate,
  DecisionAnswer,
  DecisionRequest,
  LiveCounts,
  RuleBook,
  ShownDomain,
  ShownRule,
}

/** Why the counters are not updated. */
export interface CounterFailure {
  readonly message: string
}

const mostHits = 2 ** 32 - 1
const entry = {
  type: 'object',
  required: ['key', 'value'],
  additionalProperties: false,
  properties: { key: { type: 'string' }, value: { type: 'string' } },
}
const descriptor = {
  type: 'object',
  required: ['entries'],
  additionalProperties: false,
  properties: { entries: { type: 'array', minItems: 1, maxItems: 50, items: entry } },
}
const decideBody = {
  type: 'object',
  required: ['domain', 'descriptors'],
  properties: {
    domain: { type: 'string', minLength: 1 },
    descriptors: { type: 'array', minItems: 1, maxItems: 50, items: descriptor },
    hits: { type: 'integer', minimum: 0, maximum: mostHits },
  },
}

/** Serves rules with their counters, decisions with explanations, and rule files. */
export const addRoutes: AddRoutes = (server, { ratelimit, streams }) => {
  if (ratelimit === undefined) return
  const { debugUrl, rulesDirectory } = ratelimit
  const counters = createLiveCounters({
    readStatistics: () => readCounters(debugUrl),
    readRuleBook: () => readRuleBook(ratelimit),
  })

  server.get('/api/limits/rules', async (): Promise<RuleBook> => readRuleBook(ratelimit))

  server.get('/api/limits/counters', (_request, reply) => {
    const stream = streams.open(reply)
    const stop = counters.listen({
      onUpdate: (update: CounterUpdate) => stream.send('counters', update),
      onError: (error) => stream.send('failure', toFailure(error)),
    })
    stream.closed.addEventListener('abort', stop)
  })

  server.post<{ Body: DecisionRequest }>(
    '/api/limits/decide',
    { schema: { body: decideBody } },
    async ({ body }): Promise<DecisionAnswer> => requestDecision(ratelimit, body),
  )

  if (rulesDirectory !== undefined) addFileRoutes(server, rulesDirectory, ratelimit)
}

function toFailure(error: unknown): CounterFailure {
  if (error instanceof ConsoleError) return { message: error.message }
  console.error('The counters of the rules could not be read:', error)
  return { message: 'The counters could not be read. See the terminal for details.' }
}
