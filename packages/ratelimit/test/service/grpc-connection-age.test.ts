import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { isUnsent, openLoad } from '../support/service-load.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'
const request = requestFor('d', descriptor('k=v'))

test('a connection that exceeds its age receives GOAWAY without losing a call', async (t) => {
  const service = await openService(t, { rules, env: { GRPC_MAX_CONNECTION_AGE: '2s' } })
  const load = await openLoad(t, service, {
    clients: 8,
    toRequest: () => request,
    pauseMs: 2,
  })
  // Each client makes calls until its connection accepts no more.
  await load.ended
  const answered = load.calls.filter(({ code }) => code === status.OK)
  const unsent = load.calls.filter(isUnsent)
  assert.ok(answered.length > 0)
  assert.equal(unsent.length, 8)
  assert.equal(load.calls.length, answered.length + unsent.length)
  const { decide } = await openDecisionClient(t, service)
  assert.equal((await decide(request)).statuses.length, 1)
})

async function openSession(t: TestContext, { grpcAddress }: { readonly grpcAddress: string }) {
  const session = connect(`http://${grpcAddress}`)
  t.after(() => session.destroy())
  await once(session, 'connect')
  return session
}

test('connections that were opened together do not receive GOAWAY together', async (t) => {
  const ageMs = 2_000
  const service = await openService(t, { rules, env: { GRPC_MAX_CONNECTION_AGE: `${ageMs}ms` } })
  let spreadMs = 0
  // A pause of a busy machine can make them end together, so there are several attempts.
  for (let tries = 0; tries < 5 && spreadMs <= ageMs * 0.05; tries += 1) {
    const ages = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const startMs = performance.now()
        const session = await openSession(t, service)
        await once(session, 'goaway')
        return performance.now() - startMs
      }),
    )
    // GOAWAY may be sent later, never sooner.
    const youngest = Math.min(...ages)
    assert.ok(youngest > ageMs * 0.89, `GOAWAY after ${youngest} ms`)
    spreadMs = Math.max(...ages) - youngest
  }
  assert.ok(spreadMs > ageMs * 0.05, `all within ${spreadMs} ms`)
})

test('a call that never ends is cancelled after the grace period', async (t) => {
  const service = await openService(t, {
    rules,
    // The call must be made before GOAWAY is sent, even on a busy machine.
    env: { GRPC_MAX_CONNECTION_AGE: '1500ms', GRPC_MAX_CONNECTION_AGE_GRACE: '500ms' },
  })
  const startMs = performance.now()
  const session = await openSession(t, service)
  session.on('error', () => {})
  const watch = session.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Watch',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  watch.on('error', () => {})
  watch.end(Buffer.alloc(5))
  await once(watch, 'data')
  await once(session, 'close')
  assert.ok(performance.now() - startMs > 1_800)
})
