/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { open } from '@portcullis/test-servers'
import type { Descriptor, RateLimitRequest } from '../../src/protocol/message.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, postJson, readStatistics } from '../support/service-client.ts'
import { readMegabytes, startService } from '../support/service-process.ts'

const rules = `
domain: d
descriptors:
  - { key: k, rate_limit: { unit: hour, requests_per_unit: 5 } }
  - { key: named, detailed_metric: true, rate_limit: { unit: hour, requests_per_unit: 5 } }
`

type Client = Awaited<ReturnType<typeof openDecisionClient>>

/** Unusual requests. Each must get a decision, or an error with the reason. */
const strange: Readonly<Record<string, () => RateLimitRequest>> = {
  'ten thousand descriptors': () =>
    requestFor('d', ...Array.from({ length: 10_000 }, (_, index) => descriptor(`k=${index}`))),
  'ten thousand descriptors of one counter': () =>
    requestFor('d', ...Array.from({ length: 10_000 }, () => descriptor('k=same'))),
  'ten thousand entries': () =>
    requestFor('d', descriptor(...Array.from({ length: 10_000 }, (_, index) => `k=${index}`))),
  'ten thousand limits in the request': () =>
    requestFor(
      'd',
      ...Array.from({ length: 10_000 }, (_, index) =>
        descriptor(`o=${index}`, { limit: { requestsPerUnit: 1, unit: 3 } }),
      ),
    ),
  'a value of a megabyte': () => requestFor('d', descriptor(`k=${'v'.repeat(1_000_000)}`)),
  'a value of a megabyte that is not ASCII': () =>
    requestFor('d', descriptor(`k=${'ü'.repeat(500_000)}`)),
  'a key of a megabyte': () => requestFor('d', descriptor(`${'k'.repeat(1_000_000)}=v`)),
  'a domain of a megabyte': () => requestFor('x'.repeat(1_000_000), descriptor('k=v')),
  'NUL, line breaks and spaces': () =>
    requestFor(
      'd',
      descriptor('k=\0'),
      descriptor('k=a\r\nb'),
      descriptor('k= '),
      descriptor('\0=\0'),
    ),
  'names of properties that every object has': () =>
    requestFor(
      'd',
      ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].flatMap((name) => [
        descriptor(`${name}=v`),
        descriptor(`k=${name}`),
      ]),
    ),
  'a domain with the name of a property that every object has': () =>
    requestFor('__proto__', descriptor('k=v')),
  'empty descriptors': () => requestFor('d', descriptor(), descriptor('='), descriptor('k=')),
  'every known unit, and unknown ones': () =>
    requestFor(
      'd',
      ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -7, 2 ** 31 - 1, -(2 ** 31)].map((unit) =>
        descriptor(`k=unit${unit}`, { limit: { requestsPerUnit: 1, unit } }),
      ),
    ),
  'the largest number of hits a request can have': () => ({
    ...requestFor('d', descriptor('k=32')),
    hitsAddend: 2 ** 32 - 1,
  }),
  'hits from 2^32 to 2^64': () =>
    requestFor('d', ...extremes((hitsAddend) => descriptor(`k=${hitsAddend}`, { hitsAddend }))),
  'refunds from 2^32 to 2^64': () =>
    requestFor(
      'd',
      ...extremes((hitsAddend) =>
        descriptor(`k=${hitsAddend}`, { hitsAddend, isNegativeHits: true }),
      ),
    ),
  'the largest limit in a request': () =>
    requestFor('d', descriptor('o=1', { limit: { requestsPerUnit: 2 ** 32 - 1, unit: 6 } })),
}

function extremes(toDescriptor: (hits: number) => Descriptor): Descriptor[] {
  return [2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63 - 1024].map(toDescriptor)
}

async function assertServes({ decide }: Client): Promise<void> {
  const { overallCode } = await decide(requestFor('d', descriptor('k=alive', { hitsAddend: 0 })))
  assert.equal(overallCode, 1)
}

async function runAll(t: TestContext, env: Readonly<Record<string, string>>) {
  const large = { MAX_DESCRIPTORS_PER_REQUEST: '10000', MAX_ENTRIES_PER_DESCRIPTOR: '10000' }
  const service = await startService(t, { rules, env: { ...large, ...env } })
  const client = await openDecisionClient(t, service)
  for (const [what, toRequest] of Object.entries(strange)) {
    await t.test(
      `${what}: a decision with a status for each, and the service keeps running`,
      async () => {
        const request = toRequest()
        const { statuses, overallCode } = await client.decide(request)
        assert.equal(statuses.length, request.descriptors.length)
        assert.ok(overallCode === 1 || overallCode === 2)
        await assertServes(client)
      },
    )
  }
  await t.test('hits above the highest count: a decision every time', async () => {
    for (const hitsAddend of [2 ** 63 - 1_024, 2 ** 63, 2 ** 64 - 2_048]) {
      for (let call = 0; call < 3; call += 1) {
        const { code, message } = await client.tryDecide(
          requestFor('d', descriptor('k=huge', { hitsAddend })),
        )
        assert.equal(code, status.OK, message)
      }
      const one = requestFor('d', descriptor('k=huge'))
      assert.equal((await client.decide(one)).overallCode, 2)
    }
    await assertServes(client)
  })
  assert.equal(service.hasEnded, false)
  return { service, client }
}

test('unusual requests to a service that counts in memory', async (t) => {
  const { service, client } = await runAll(t, {})
  // The following does not depend on the store.
  await t.test(
    'the same over /json: a decision or an error, and the service keeps running',
    async () => {
      for (const [what, toRequest] of Object.entries(strange)) {
        const { status: code } = await postJson(service, JSON.stringify(toRequest()))
        assert.ok([200, 429, 413].includes(code), `${what}: ${code}`)
      }
      await assertServes(client)
    },
  )
  await t.test('statistics stay one line each, whatever the values are', async () => {
    await client.decide(
      requestFor(
        'd',
        descriptor('named=a\nforged.name: 1'),
        descriptor('named=b\r\nforged.other: 1'),
      ),
    )
    await client.decide(requestFor('e\nforged.domain: 1', descriptor('k=v')))
    const forged = [...(await readStatistics(service)).keys()].filter((name) =>
      name.startsWith('forged'),
    )
    assert.deepEqual(forged, [])
  })
  assert.equal(service.hasEnded, false)
})

test('unusual requests to a service that counts in Redis', async (t) => {
  const redis = await open(t, 'redis')
  if (redis) await runAll(t, { KVSTORE_URL: `127.0.0.1:${redis.port}` })
})

test('names that occur once do not occupy memory permanently', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  // Half of the names would exhaust the memory if they were kept as text.
  const env = {
    KVSTORE_URL: `127.0.0.1:${redis.port}`,
    NODE_OPTIONS: '--max-old-space-size=48',
  }
  const service = await startService(t, { rules, env })
  const client = await openDecisionClient(t, service)
  const before = await readMegabytes(service)
  const long = 'v'.repeat(1_000_000)
  for (let call = 0; call < 40; call += 1) {
    await client.decide(requestFor('d', descriptor(`named=${call}${long}`)))
    await client.decide(requestFor(`${call}${long}`, descriptor('k=v')))
  }
  assert.equal(service.hasEnded, false)
  const growth = (await readMegabytes(service)) - before
  assert.ok(growth < 70, `${Math.round(growth)} MB more after 80 MB of names`)
})

test('however many values occur once, the number of statistics is bounded', async (t) => {
  const env = { STATS_MAX_DYNAMIC_KEYS: '1000', MAX_DESCRIPTORS_PER_REQUEST: '2000' }
  const service = await startService(t, { rules, env })
  const client = await openDecisionClient(t, service)
  const before = await readMegabytes(service)
  for (let call = 0; call < 5; call += 1) {
    const values = Array.from({ length: 2_000 }, (_, index) => `${call}-${index}`)
    await client.decide(requestFor('d', ...values.map((value) => descriptor(`named=${value}`))))
  }
  const names = [...(await readStatistics(service)).keys()]
  const kept = names.filter((name) => /\.d\.named_.*\.total_hits$/.test(name))
  assert.ok(kept.length > 0 && kept.length <= 1_000, `${kept.length} names`)
  assert.ok((await readMegabytes(service)) - before < 300)
})
