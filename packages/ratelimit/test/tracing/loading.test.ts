import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDecisionClient, postJson } from '../support/service-client.ts'
import { startService } from '../support/service-process.ts'
import { openHttpCollector } from './support/collector.ts'
import { createRequest, rules, startTraced } from './support/traced-service.ts'

const hook = new URL('./support/print-loaded.ts', import.meta.url).href
const env = { NODE_OPTIONS: `--import ${hook}` }

test('without tracing nothing of OpenTelemetry is loaded', async (t) => {
  const service = await startService(t, { rules, env })
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user'))
  await postJson(service, '{"domain":"shop","descriptors":[{"entries":[{"key":"user"}]}]}')
  assert.equal(await service.stop(), 0)
  assert.doesNotMatch(service.log, /opentelemetry/)
})

test('with tracing only the selected exporter is loaded', async (t) => {
  const collector = await openHttpCollector(t)
  const service = await startTraced(t, collector, env)
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user'))
  assert.equal(await service.stop(), 0)
  assert.match(service.log, /loaded @opentelemetry\/exporter-trace-otlp-proto/)
  assert.doesNotMatch(service.log, /exporter-trace-otlp-grpc/)
})
