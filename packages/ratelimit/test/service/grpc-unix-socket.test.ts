import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { startService } from '../support/service-process.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'

async function makeSocketPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratelimit-socket-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'grpc.sock')
}

test('a Unix socket can replace the port, and is removed with the service', async (t) => {
  const path = await makeSocketPath(t)
  const service = await startService(t, { rules, env: { GRPC_UDS: path } })
  assert.equal(service.grpcAddress, `unix:${path}`)
  const { decide, close } = await openDecisionClient(t, service)
  const { statuses } = await decide(requestFor('d', descriptor('k=v')))
  assert.equal(statuses[0]?.limitRemaining, 8)

  await assert.rejects(openService(t, { rules, env: { GRPC_UDS: path } }), /EADDRINUSE.*grpc\.sock/)
  assert.equal((await decide(requestFor('d', descriptor('k=v')))).overallCode, 1)

  await close()
  assert.equal(await service.stop(), 0)
  assert.equal(existsSync(path), false)
})

test('a socket file that a dead service left behind is replaced', async (t) => {
  const path = await makeSocketPath(t)
  const first = await startService(t, { rules, env: { GRPC_UDS: path } })
  first.signal('SIGKILL')
  assert.equal(await first.ended, 'SIGKILL')
  assert.equal(existsSync(path), true)
  const next = await openService(t, { rules, env: { GRPC_UDS: path } })
  const { decide } = await openDecisionClient(t, next)
  assert.equal((await decide(requestFor('d', descriptor('k=v')))).overallCode, 1)
})
