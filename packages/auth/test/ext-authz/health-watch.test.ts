import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { createLog } from '@portcullis/service-kit/log/log'
import { openChecks } from '../../src/ext-authz/open-checks.ts'
import type { ReadinessState } from '../../src/features/server/readiness.ts'
import type { Services } from '../../src/services.ts'
import { toText } from '../../src/wire-format.ts'

const service = 'envoy.service.auth.v3.Authorization'
const [serving, notServing, unknown] = ['0801', '0802', '0803']

/** A listener whose readiness the test decides, and a client of it. */
async function openWatched(t: TestContext) {
  const state = { isReady: true }
  const readiness = { check: async () => state as ReadinessState }
  const checks = openChecks({
    config: { address: { host: '127.0.0.1', port: 0 }, tls: undefined },
    getServices: () => ({ readiness }) as unknown as Services,
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
  })
  const bound = await checks.listen()
  const session = connect(`http://127.0.0.1:${'port' in bound ? bound.port : 0}`)
  t.after(async () => {
    session.destroy()
    await checks[Symbol.asyncDispose]()
  })
  return { state, checks, watch: (name: string) => openWatch(session, name) }
}

function openWatch(session: ClientHttp2Session, name: string) {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Watch',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const message = name === '' ? Buffer.alloc(0) : toText(1, name)
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([prefix, message]))
  const ended = once(stream, 'trailers').then(([trailers]) => Number(trailers['grpc-status']))
  let received = Buffer.alloc(0)
  return {
    stream,
    ended,
    /** The next message, in hexadecimal. */
    async next(): Promise<string> {
      while (received.length < 7) {
        const [chunk] = await once(stream, 'data')
        received = Buffer.concat([received, chunk])
      }
      const next = received.subarray(5, 7).toString('hex')
      received = received.subarray(7)
      return next
    },
  }
}

test('Watch reports the readiness of the server whenever it changes', async (t) => {
  const { state, watch } = await openWatched(t)
  const [whole, checked, other] = [watch(''), watch(service), watch('other')]
  assert.deepEqual(
    [await whole.next(), await checked.next(), await other.next()],
    [serving, serving, unknown],
  )
  state.isReady = false
  assert.equal(await checked.next(), notServing)
  state.isReady = true
  assert.equal(await checked.next(), serving)
})

test('before the listener stops, Watch reports it and ends, and does not delay the stop', async (t) => {
  const { checks, watch } = await openWatched(t)
  const watches = [watch(''), watch(service)]
  for (const each of watches) assert.equal(await each.next(), serving)
  const drained = checks.drain()
  for (const each of watches) {
    assert.equal(await each.next(), notServing)
    assert.equal(await each.ended, status.UNAVAILABLE)
  }
  await drained
})

test('a cancelled Watch does not keep the listener from stopping', async (t) => {
  const { checks, watch } = await openWatched(t)
  const cancelled = watch(service)
  assert.equal(await cancelled.next(), serving)
  cancelled.stream.close()
  await once(cancelled.stream, 'close')
  await checks.drain()
})
