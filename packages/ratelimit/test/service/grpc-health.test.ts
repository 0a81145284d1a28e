import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { Client, credentials } from '@grpc/grpc-js'
import { status } from '@portcullis/grpc-unary'
import {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from '../../src/protocol/generated/grpc/health/v1/health_pb.ts'
import { messagesOf, statusOf } from '../support/grpc-js-client.ts'
import { openService, type TestApp } from '../support/service-app.ts'
import { openDecisionClient, readStatistics } from '../support/service-client.ts'

const service = '/grpc.health.v1.Health'
const rules = 'domain: d\ndescriptors: []\n'
const needsRules = { HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: 'true' }
const asBytes = (bytes: Uint8Array) => Buffer.from(bytes)

function toRequest(name: string): Uint8Array {
  return toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service: name }))
}

async function openChecks(t: TestContext, app: TestApp) {
  const { call } = await openDecisionClient(t, app)
  return {
    async check(name: string) {
      const { code, message, response } = await call(`${service}/Check`, toRequest(name))
      return code === status.OK ? fromBinary(HealthCheckResponseSchema, response).status : message
    },
    async list() {
      const { response } = await call(`${service}/List`, new Uint8Array())
      const { statuses } = fromBinary(HealthListResponseSchema, response)
      return Object.fromEntries(
        Object.entries(statuses).map(([name, { status: serving }]) => [name, serving]),
      )
    },
  }
}

function openWatch(t: TestContext, { grpcAddress }: TestApp, name: string) {
  const client = new Client(grpcAddress, credentials.createInsecure())
  t.after(() => client.close())
  const call = client.makeServerStreamRequest(`${service}/Watch`, asBytes, asBytes, toRequest(name))
  const ended = statusOf(call)
  const nextMessage = messagesOf(call)
  const next = async () => fromBinary(HealthCheckResponseSchema, await nextMessage()).status
  return { next, ended }
}

test('only ratelimit and the process itself are known, and both are serving', async (t) => {
  const app = await openService(t, { rules })
  const { check, list } = await openChecks(t, app)
  assert.equal(await check('ratelimit'), Serving.SERVING)
  assert.equal(await check(''), Serving.SERVING)
  assert.equal(await check('other'), 'unknown service')
  assert.deepEqual(await list(), { '': Serving.SERVING, ratelimit: Serving.SERVING })
  const statistics = await readStatistics(app)
  assert.equal(statistics.get('ratelimit_server.Check.total_requests'), 3)
})

test('without rules ratelimit is not serving if rules are required', async (t) => {
  const app = await openService(t, { rules: 'domain: [', env: needsRules })
  const { check, list } = await openChecks(t, app)
  assert.equal(await check('ratelimit'), Serving.NOT_SERVING)
  assert.equal(await check(''), Serving.SERVING)
  assert.equal((await list())['ratelimit'], Serving.NOT_SERVING)
  assert.equal((await fetch(`${app.httpUrl}/healthcheck`)).status, 500)
})

test('Watch reports every change, and ends when the service stops', async (t) => {
  const app = await openService(t, { rules: 'domain: [', env: needsRules })
  const watch = openWatch(t, app, 'ratelimit')
  assert.equal(await watch.next(), Serving.NOT_SERVING)
  await app.rules.replace(rules)
  assert.equal(await watch.next(), Serving.SERVING)
  const stopped = app.stop()
  assert.equal(await watch.next(), Serving.NOT_SERVING)
  assert.equal((await watch.ended).code, status.UNAVAILABLE)
  assert.equal(await stopped, 0)
})

test('Watch of an unknown service reports that and stays open', async (t) => {
  const app = await openService(t, { rules })
  assert.equal(await openWatch(t, app, 'other').next(), Serving.SERVICE_UNKNOWN)
})

test('removing the last domain makes a service unhealthy if it requires rules', async (t) => {
  const app = await openService(t, { rules, env: needsRules })
  const watch = openWatch(t, app, 'ratelimit')
  assert.equal(await watch.next(), Serving.SERVING)
  await rm(join(app.rules.path, 'rules.yaml'))
  assert.equal(await watch.next(), Serving.NOT_SERVING)
})
