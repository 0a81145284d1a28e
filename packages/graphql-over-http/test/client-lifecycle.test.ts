import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createClient, type FetchInit, type FetchResponse } from '../src/client.ts'
import {
  openClientServer,
  recordSink,
  respond,
  scriptFetch,
  settle,
} from './support/client-server.ts'

const REQUEST = { query: '{ hello }' }
const never = (): Promise<never> => new Promise(() => {})

test('cancelling aborts the request on the wire and completes the sink, nothing else', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<unknown>()
  const server = await openClientServer(t, (res) => {
    closed.resolve(once(res, 'close'))
    arrived.resolve()
  })
  const sink = recordSink()
  const cancel = createClient({ url: server.url, shouldRetry: () => true }).subscribe(REQUEST, sink)
  await arrived.promise

  cancel()
  assert.deepEqual(sink.events, [], 'the sink is not called from within cancel')
  await sink.ended
  await closed.promise
  await settle()

  assert.deepEqual(sink.events, [['complete']])
  assert.equal(server.received.length, 1)
})

test('cancelling while the body arrives completes the sink, nothing else', async (t) => {
  const closed = Promise.withResolvers<unknown>()
  const server = await openClientServer(t, (res) => {
    closed.resolve(once(res, 'close'))
    res.writeHead(200, { 'content-type': 'application/json' }).write('{"data":')
  })
  const sink = recordSink()
  const responded = Promise.withResolvers<void>()
  const client = createClient({
    url: server.url,
    fetchFn: async (url, init) => {
      const response = await fetch(url, init)
      responded.resolve()
      return response
    },
  })
  const cancel = client.subscribe(REQUEST, sink)
  await responded.promise
  await settle()

  cancel()
  await closed.promise
  await settle()

  assert.deepEqual(sink.events, [['complete']])
})

test('cancelling twice, or after the end, changes nothing', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'), never(), new Error('down'))
  const client = createClient({ url: 'http://test', fetchFn })
  const [done, cancelled, failed] = [recordSink(), recordSink(), recordSink()]

  const cancels = [done, cancelled, failed].map((sink) => client.subscribe(REQUEST, sink))
  await settle()
  for (const cancel of [...cancels, ...cancels]) cancel()
  await settle()

  assert.deepEqual(done.events, [['next', {}], ['complete']])
  assert.deepEqual(cancelled.events, [['complete']])
  assert.deepEqual(failed.events.map(String), ['error,NetworkError: down'])
  assert.deepEqual(
    calls.map(({ init }) => init.signal.aborted),
    [false, true, false],
  )
})

test('cancelling from within next completes once', async () => {
  const { fetchFn } = scriptFetch(respond('{}'))
  const sink = recordSink()
  const cancel = createClient({ url: 'http://test', fetchFn }).subscribe(REQUEST, {
    next: (value) => {
      sink.next(value)
      cancel()
    },
    error: sink.error,
    complete: sink.complete,
  })
  await settle()
  assert.deepEqual(sink.events, [['next', {}], ['complete']])
})

for (const [option, answer, steps] of [
  ['url', 'http://test', ['url']],
  ['headers', {}, ['url', 'headers']],
  ['shouldRetry', true, ['url', 'headers', 'fetch', 'shouldRetry']],
] as const) {
  test(`cancelling while ${option} is pending completes at once, and no further step is taken`, async () => {
    const gate = Promise.withResolvers<unknown>()
    const taken: string[] = []
    const sink = recordSink()
    const client = createClient({
      url: () => {
        taken.push('url')
        return 'http://test'
      },
      headers: () => void taken.push('headers'),
      fetchFn: async () => {
        taken.push('fetch')
        throw new Error('down')
      },
      [option]: () => {
        taken.push(option)
        return gate.promise
      },
    })
    const cancel = client.subscribe(REQUEST, sink)
    await settle()

    cancel()
    await sink.ended
    gate.resolve(answer)
    await settle()

    assert.deepEqual(sink.events, [['complete']])
    assert.deepEqual(taken, steps)
  })
}

test('cancelling during shouldRetry frees the response, whatever it then decides', async () => {
  for (const decision of [true, false]) {
    const gate = Promise.withResolvers<boolean>()
    const response = respond('{}', { status: 503 })
    const cancel = createClient({
      url: 'http://test',
      fetchFn: async () => response,
      shouldRetry: () => gate.promise,
    }).subscribe(REQUEST, recordSink())
    await settle()
    assert.equal(response.bodyUsed, false)

    cancel()
    gate.resolve(decision)
    await settle()
    assert.equal(response.bodyUsed, true)
  }
})

test('a fetch that ignores the signal and never settles does not hold back complete', async () => {
  const sink = recordSink()
  const cancel = createClient({ url: 'http://test', fetchFn: never }).subscribe(REQUEST, sink)
  cancel()
  await sink.ended
  assert.deepEqual(sink.events, [['complete']])
})

for (const [kind, late] of [
  ['answers', () => respond('{"data":{}}')],
  ['answers with a failure', () => respond('{}', { status: 503 })],
  ['answers with a wrong type', () => new Response('{}')],
] as const) {
  test(`a fetch that ignores the signal and ${kind} is ignored, and its body is cancelled`, async () => {
    const gate = Promise.withResolvers<FetchResponse>()
    const sink = recordSink()
    let offered = 0
    const cancel = createClient({
      url: 'http://test',
      fetchFn: () => gate.promise,
      shouldRetry: () => ++offered > 0,
    }).subscribe(REQUEST, sink)
    const response = late()

    cancel()
    gate.resolve(response)
    await settle()

    assert.deepEqual(sink.events, [['complete']])
    assert.equal(offered, 0)
    assert.equal(response.bodyUsed, true)
  })
}

test('a body that arrives after cancelling is ignored', async () => {
  const gate = Promise.withResolvers<unknown>()
  const sink = recordSink()
  const response = {
    ok: true,
    status: 200,
    statusText: 'OK',
    headers: new Headers({ 'content-type': 'application/json' }),
    json: () => gate.promise,
  }
  const cancel = createClient({ url: 'http://test', fetchFn: async () => response }).subscribe(
    REQUEST,
    sink,
  )
  await settle()
  cancel()
  gate.resolve({ data: {} })
  await settle()
  assert.deepEqual(sink.events, [['complete']])
})

test('dispose completes and aborts requests in flight, and may be called again', async () => {
  const { calls, fetchFn } = scriptFetch(never(), never(), respond('{}'))
  const client = createClient({ url: 'http://test', fetchFn })
  const sinks = [recordSink(), recordSink(), recordSink()]
  for (const sink of sinks) client.subscribe(REQUEST, sink)
  await sinks[2]?.ended

  client.dispose()
  client.dispose()
  await settle()

  assert.deepEqual(
    sinks.map(({ events }) => events),
    [[['complete']], [['complete']], [['next', {}], ['complete']]],
  )
  assert.deepEqual(
    calls.map(({ init }) => init.signal.aborted),
    [true, true, false],
  )
})

for (const name of ['dispose', 'close', Symbol.asyncDispose] as const) {
  test(`a client refuses requests after ${String(name)}`, async () => {
    const client = createClient({ url: 'http://test', fetchFn: never })
    const sink = recordSink()
    client.subscribe(REQUEST, sink)
    await client[name]()
    await sink.ended
    assert.deepEqual(sink.events, [['complete']])
    const disposed = { name: 'Error', message: 'Client has been disposed' }
    assert.throws(() => client.subscribe(REQUEST, recordSink()), disposed)
    await assert.rejects(client.execute(REQUEST), disposed)
    await assert.rejects(client.iterate(REQUEST).next(), disposed)
  })
}

test('dispose does not abort requests that have settled', async () => {
  let aborts = 0
  class CountingController extends AbortController {
    override abort(): void {
      aborts++
      super.abort()
    }
  }
  let count = 0
  const client = createClient({
    url: 'http://test',
    abortControllerImpl: CountingController,
    fetchFn: async () => {
      if (count++ % 2) throw new Error('down')
      return respond('{}')
    },
  })
  await Promise.allSettled(Array.from({ length: 1000 }, () => client.execute(REQUEST)))
  client.dispose()
  assert.equal(count, 1000)
  assert.equal(aborts, 0)
})

test('an error thrown by next is reported through error, without complete', async () => {
  const thrown = new Error('in next')
  const { fetchFn } = scriptFetch(respond('{}'))
  const sink = recordSink()
  createClient({ url: 'http://test', fetchFn, shouldRetry: () => true }).subscribe(REQUEST, {
    ...sink,
    next: () => {
      throw thrown
    },
  })
  await settle()
  assert.deepEqual(sink.events, [['error', thrown]])
})

test('an error thrown by complete or by error is logged to the console, since a sink closes once', async (t) => {
  const printed = t.mock.method(console, 'error', () => {})
  const { fetchFn } = scriptFetch(respond('{}'), new Error('down'), never())
  const client = createClient({ url: 'http://test', fetchFn })
  const sinks = [recordSink(), recordSink(), recordSink()]
  const cancels = sinks.map((sink) =>
    client.subscribe(REQUEST, {
      next: sink.next,
      error: (error) => {
        sink.error(error)
        throw new Error('in error')
      },
      complete: () => {
        sink.complete()
        throw new Error('in complete')
      },
    }),
  )
  await settle()
  cancels[2]?.()
  await settle()

  assert.deepEqual(
    sinks.map(({ events }) => events.map(([name]) => name)),
    [['next', 'complete'], ['error'], ['complete']],
  )
  assert.deepEqual(printed.mock.calls.map(({ arguments: [error] }) => error.message).sort(), [
    'in complete',
    'in complete',
    'in error',
  ])
})

test('abortControllerImpl replaces the controller, and its signal reaches fetch', async () => {
  const signal = { aborted: false }
  class Controller {
    readonly signal = signal
    abort(): void {
      signal.aborted = true
    }
  }
  const inits: FetchInit[] = []
  const sink = recordSink()
  const cancel = createClient({
    url: 'http://test',
    abortControllerImpl: Controller,
    fetchFn: (_, init) => {
      inits.push(init)
      return never()
    },
  }).subscribe(REQUEST, sink)
  cancel()
  await sink.ended
  assert.deepEqual([inits[0]?.signal === (signal as unknown), signal.aborted], [true, true])
})
