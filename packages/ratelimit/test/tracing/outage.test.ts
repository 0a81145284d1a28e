/**
 * @legs safety
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { openDecisionClient } from '../support/service-client.ts'
import { readMegabytes, until } from '../support/service-process.ts'
import { openGrpcCollector, openHttpCollector } from './support/collector.ts'
import { createRequest, startTraced } from './support/traced-service.ts'

/** Small batches, so that tests wait only for the collector. */
const smallBatches = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '8', OTEL_BSP_MAX_QUEUE_SIZE: '64' }

function countLines(log: string, part: string): number {
  return log.split('\n').filter((line) => line.includes(part)).length
}

const protocols = [
  ['http', openHttpCollector],
  ['grpc', openGrpcCollector],
] as const

for (const [protocol, openCollector] of protocols) {
  test(`without a collector for OTLP/${protocol} decisions are not affected and one line is logged`, async (t) => {
    const port = await findFreePort()
    const service = await startTraced(
      t,
      { endpoint: `http://127.0.0.1:${port}` },
      {
        ...smallBatches,
        TRACING_EXPORTER_PROTOCOL: protocol,
        // On a busy machine even a refused connection takes time.
        OTEL_EXPORTER_OTLP_TIMEOUT: '3000',
      },
    )
    const client = await openDecisionClient(t, service)
    const decide = () => client.decide(createRequest('ann', 'user'))
    await until(
      async () => {
        for (let sent = 0; sent < 20; sent++) await decide()
        return service.log.includes('Spans are lost')
      },
      () => `the loss of spans is logged:\n${service.log}`,
    )
    for (let sent = 0; sent < 500; sent++) await decide()
    assert.equal(countLines(service.log, 'Spans are lost'), 1, service.log)
    assert.match(service.log, /the collector did not accept them \(.*(ECONNREFUSED|UNAVAILABLE)/)

    const collector = await openCollector(t, { port })
    await until(
      async () => {
        await decide()
        return service.log.includes('The collector accepts spans again')
      },
      () => `the recovery of the collector is logged:\n${service.log}`,
    )
    assert.ok(collector.spans.length > 0)
    assert.deepEqual(collector.faults, [])
    assert.equal(await service.stop(), 0)
    const warnings = countLines(service.log, 'Tracing: ')
    assert.ok(warnings <= 1, `at most that spans were dropped:\n${service.log}`)
  })
}

test('a collector that hangs does not delay decisions, and delays the shutdown only briefly', {
  concurrency: true,
}, async (t) => {
  await Promise.all(
    protocols.map(([protocol, openCollector]) =>
      t.test(`at OTLP/${protocol}`, async (t) => {
        const collector = await openCollector(t, { answer: 'hang' })
        const service = await startTraced(t, collector, {
          ...smallBatches,
          TRACING_EXPORTER_PROTOCOL: protocol,
        })
        const client = await openDecisionClient(t, service)
        for (let sent = 0; sent < 500; sent++) await client.decide(createRequest('ann', 'user'))
        await until(
          () => collector.requests > 0,
          () => 'the collector received a request',
        )
        await client.close()
        assert.equal(await service.stop(), 0)
        assert.equal(countLines(service.log, 'The last spans are lost'), 1, service.log)
        assert.doesNotMatch(service.log, /level=error|did not close|did not drain/)
      }),
    ),
  )
})

test('a slow collector still receives all queued spans when the service stops', async (t) => {
  const collector = await openHttpCollector(t, { answer: 'slow' })
  const service = await startTraced(t, collector)
  const client = await openDecisionClient(t, service)
  for (let sent = 0; sent < 500; sent++) await client.decide(createRequest('ann', 'user'))
  assert.equal(await service.stop(), 0)
  assert.equal(collector.spans.length, 1_000)
  assert.deepEqual(collector.faults, [])
})

test('a collector that refuses spans is logged with its reason', async (t) => {
  const collector = await openHttpCollector(t, { answer: 'refuse' })
  const service = await startTraced(t, collector, smallBatches)
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user'))
  await until(
    () => service.log.includes('Spans are lost'),
    () => `the loss of spans is logged:\n${service.log}`,
  )
  assert.match(service.log, /did not accept them \(400 Bad Request\)/)
  assert.equal(await service.stop(), 0)
})

test('spans that are not accepted take bounded memory', async (t) => {
  const collector = await openHttpCollector(t, { answer: 'hang' })
  const service = await startTraced(t, collector)
  const client = await openDecisionClient(t, service)
  const decide = async (count: number) => {
    const request = createRequest('x'.repeat(2_000), 'user')
    for (let sent = 0; sent < count; sent++) await client.decide(request)
  }
  await decide(3_000)
  const before = await readMegabytes(service)
  await decide(6_000)
  const growth = (await readMegabytes(service)) - before
  // If they were kept, the spans of 6000 calls would take at least as much as their requests: 24 MB.
  assert.ok(growth < 60, `${growth} MB`)
  service.signal('SIGKILL')
})

test('with an invalid address the service does not start, and the message says what to change', async (t) => {
  const failed = startTraced(t, { endpoint: 'http://' }, { TRACING_EXPORTER_PROTOCOL: 'grpc' })
  await assert.rejects(failed, /Tracing cannot start: .*OTEL_EXPORTER_OTLP_ENDPOINT=http:/)
})
