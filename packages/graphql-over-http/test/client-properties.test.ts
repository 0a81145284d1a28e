import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createClient, type FetchInit } from '../src/client.ts'
import { recordSink, respond } from './support/client-server.ts'

const outcomes = {
  ok: () => respond('{"data":{}}'),
  rejected: () => {
    throw new Error('down')
  },
  unavailable: () => respond('{}', { status: 503 }),
  wrongType: () => new Response('{}'),
  notJson: () => respond('<'),
  noBody: () => respond(null),
}
type Outcome = keyof typeof outcomes

const isRetriable = (outcome: Outcome) => outcome === 'rejected' || outcome === 'unavailable'

/** Waits for a number of turns of the microtask queue, the finest step at which to interfere. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined
}

const scenarios = fc.record({
  /** The outcome of each attempt; the last one repeats. */
  script: fc.array(fc.constantFrom(...(Object.keys(outcomes) as Outcome[])), {
    minLength: 1,
    maxLength: 5,
  }),
  retriesGranted: fc.nat(6),
  /** How many turns each asynchronous part takes: address, headers, fetch, decision to retry. */
  delays: fc.tuple(fc.nat(4), fc.nat(4), fc.nat(6), fc.nat(6)),
  ignoresSignal: fc.boolean(),
  cancelAfterTurns: fc.option(fc.nat(80)),
  disposes: fc.boolean(),
  nextThrows: fc.boolean(),
})

test('a request follows its lifecycle, whatever happens and whenever it is cancelled', async () => {
  const seen = { cancelled: 0, failed: 0, completed: 0, retried: 0 }

  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { script, delays, cancelAfterTurns } = scenario
      const [urlDelay, headersDelay, fetchDelay, retryDelay] = delays
      const inits: FetchInit[] = []
      const retries: number[] = []
      const sink = recordSink()
      const outcomeOf = (attempt: number) => script[attempt] ?? script.at(-1) ?? 'ok'

      const client = createClient({
        url: async () => {
          await turns(urlDelay)
          return 'http://test'
        },
        headers: () => turns(headersDelay),
        shouldRetry: async (_, count) => {
          retries.push(count)
          await turns(retryDelay)
          return count < scenario.retriesGranted
        },
        fetchFn: async (_, init) => {
          const outcome = outcomeOf(inits.push(init) - 1)
          await turns(fetchDelay)
          if (!scenario.ignoresSignal) init.signal.throwIfAborted()
          return outcomes[outcome]()
        },
      })
      const cancel = client.subscribe(
        { query: '{ a }' },
        {
          ...sink,
          next: (value) => {
            sink.next(value)
            if (scenario.nextThrows) throw new Error('in next')
          },
        },
      )
      assert.equal(sink.events.length, 0)

      let isCancelled = false
      if (cancelAfterTurns !== null) {
        await turns(cancelAfterTurns)
        isCancelled = sink.events.length === 0
        if (scenario.disposes) client.dispose()
        else cancel()
      }
      const sentBeforeCancel = inits.length
      await sink.ended
      await new Promise((resolve) => setImmediate(resolve))

      const names = sink.events.map(([name]) => name)
      if (isCancelled) {
        assert.deepEqual(names, ['complete'])
        assert.equal(inits.length, sentBeforeCancel)
        assert.ok(inits.every(({ signal }) => signal.aborted))
        seen.cancelled++
      } else {
        // The number of attempts that follows from the script and the granted retries, computed
        // independently.
        let attempts = 1
        while (isRetriable(outcomeOf(attempts - 1)) && attempts <= scenario.retriesGranted)
          attempts++
        const last = outcomeOf(attempts - 1)

        assert.equal(inits.length, attempts)
        assert.deepEqual(
          retries,
          Array.from({ length: isRetriable(last) ? attempts : attempts - 1 }, (_, index) => index),
        )
        if (last !== 'ok') assert.deepEqual(names, ['error'])
        else assert.deepEqual(names, ['next', scenario.nextThrows ? 'error' : 'complete'])
        if (last === 'ok') seen.completed++
        else seen.failed++
        if (attempts > 1) seen.retried++
      }
    }),
    { numRuns: 600 },
  )

  // Checks that every kind of scenario occurred.
  for (const count of Object.values(seen)) assert.ok(count > 30, JSON.stringify(seen))
})

test('only the four parameters of a request are sent, without loss', async () => {
  const maps = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(
      fc.record(
        {
          query: fc.string(),
          operationName: fc.option(fc.string()),
          variables: maps,
          extensions: maps,
          id: fc.string(),
          signal: fc.string(),
        },
        { requiredKeys: ['query'] },
      ),
      async (request) => {
        let sent = ''
        const client = createClient({
          url: 'http://test',
          fetchFn: async (_, { body }) => {
            sent = body
            return respond('{}')
          },
        })
        await client.execute(request)

        const { id: _id, signal: _signal, ...parameters } = request
        assert.deepEqual(JSON.parse(sent), JSON.parse(JSON.stringify(parameters)))
      },
    ),
  )
})

test('each header is sent once whatever its capitalization, and protocol headers are not replaced', async () => {
  const mixCase = (name: string) =>
    fc
      .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
      .map((uppers) => [...name].map((c, i) => (uppers[i] ? c.toUpperCase() : c)).join(''))
  const names = fc
    .constantFrom('accept', 'content-type', 'authorization', 'x-trace-id')
    .chain(mixCase)

  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(names, fc.stringMatching(/^[!-~]+$/))), async (pairs) => {
      let sent: Record<string, string> = {}
      const client = createClient({
        url: 'http://test',
        headers: Object.fromEntries(pairs),
        fetchFn: async (_, { headers }) => {
          sent = headers
          return respond('{}')
        },
      })
      await client.execute({ query: '{ a }' })

      assert.deepEqual(
        Object.keys(sent).sort(),
        [
          ...new Set(['accept', 'content-type', ...pairs.map(([name]) => name.toLowerCase())]),
        ].sort(),
      )
      const asFetchSeesThem = new Headers(sent)
      assert.equal(
        asFetchSeesThem.get('accept'),
        'application/graphql-response+json, application/json;q=0.9',
      )
      assert.equal(asFetchSeesThem.get('content-type'), 'application/json; charset=utf-8')
    }),
  )
})
