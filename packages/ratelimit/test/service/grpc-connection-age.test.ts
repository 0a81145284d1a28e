import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { ask, descriptor } from '../support/decider.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { isUnsent, openLoad } from '../support/service-load.ts'
import { startService } from '../support/service-process.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'
const request = ask('d', descriptor('k=v'))

test('a connection past its age is sent away without losing a call', async (t) => {
  const service = await startService(t, { rules, env: { GRPC_MAX_CONNECTION_AGE: '500ms' } })
  const load = await openLoad(t, service, { clients: 8, toRequest: () => request })
  // Each client asks until its connection takes no more calls.
  await load.ended
  const answered = load.calls.filter(({ code }) => code === status.OK)
  const unsent = load.calls.filter(isUnsent)
  assert.ok(answered.length >= 8)
  assert.equal(unsent.length, 8)
  assert.equal(load.calls.length, answered.length + unsent.length)
  const { decide } = await openDecisionClient(t, service)
  assert.equal((await decide(request)).statuses.length, 1)
})
