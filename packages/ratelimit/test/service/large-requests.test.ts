/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { open } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { decisionPath, openDecisionClient, postJson, toBytes } from '../support/service-client.ts'
import { startService } from '../support/service-process.ts'

const rules = `
domain: d
descriptors:
  - { key: k, rate_limit: { unit: day, requests_per_unit: 1000 } }
  - { key: one, rate_limit: { unit: day, requests_per_unit: 1 } }
  - { key: honest, rate_limit: { unit: day, requests_per_unit: 1000000 } }
`

const toMany = (count: number, toEntry = (index: number) => `k=${index}`) =>
  Array.from({ length: count }, (_, index) => descriptor(toEntry(index)))

async function runAll(t: TestContext, env: Readonly<Record<string, string>>) {
  const service = await startService(t, { rules, env })
  const client = await openDecisionClient(t, service)

  await t.test(
    'more descriptors or entries than allowed are refused with the name of the setting',
    async () => {
      const tooMany = await client.tryDecide(requestFor('d', ...toMany(501)))
      assert.equal(tooMany.code, status.INVALID_ARGUMENT)
      assert.match(tooMany.message, /at most 500 descriptors \(MAX_DESCRIPTORS_PER_REQUEST\)/)
      const entries = Array.from({ length: 101 }, (_, index) => `e=${index}`)
      const tooLong = await client.tryDecide(requestFor('d', descriptor(...entries)))
      assert.equal(tooLong.code, status.INVALID_ARGUMENT)
      assert.match(tooLong.message, /at most 100 entries \(MAX_ENTRIES_PER_DESCRIPTOR\)/)
      const overJson = await postJson(service, JSON.stringify(requestFor('d', ...toMany(501))))
      assert.equal(overJson.status, 400)
      const huge = await client.tryDecide({
        ...requestFor('d'),
        descriptors: toMany(300_000, () => 'k='),
      })
      assert.equal(huge.code, status.INVALID_ARGUMENT)
    },
  )

  await t.test(
    'too many descriptors are refused before the whole request has arrived',
    async () => {
      const message = toBytes(requestFor('d', ...toMany(100_000)))
      const prefix = Buffer.alloc(5)
      prefix.writeUInt32BE(message.length, 1)
      const session = connect(`http://${service.grpcAddress}`)
      const call = session.request({
        ':method': 'POST',
        ':path': decisionPath,
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      call.write(Buffer.concat([prefix, message.subarray(0, 100_000)]))
      const [headers] = await once(call, 'response')
      assert.equal(headers['grpc-status'], `${status.INVALID_ARGUMENT}`)
      session.destroy()
    },
  )

  await t.test('the maximum number is decided like separate requests', async () => {
    const { statuses, overallCode } = await client.decide(requestFor('d', ...toMany(500)))
    assert.equal(overallCode, 1)
    assert.deepEqual(new Set(statuses.map(({ limitRemaining }) => limitRemaining)), new Set([999]))
    const again = await client.decide(requestFor('d', descriptor('k=7'), descriptor('k=499')))
    assert.deepEqual(
      again.statuses.map(({ limitRemaining }) => limitRemaining),
      [998, 998],
    )
    // The same counter twice, in different slices: both are counted, and one is refused.
    const twice = [descriptor('one=a'), ...toMany(400), descriptor('one=a')]
    const refused = await client.decide(requestFor('d', ...twice))
    assert.equal(refused.overallCode, 2)
    assert.deepEqual([refused.statuses[0]?.code, refused.statuses.at(-1)?.code], [1, 2])
  })

  await t.test('other clients are answered while some send only large requests', async () => {
    let isOver = false
    const attack = async () => {
      let refusals = 0
      while (!isOver) {
        const { code } = await client.tryDecide(requestFor('d', ...toMany(500)))
        if (code !== status.OK) refusals += 1
      }
      return refusals
    }
    const attackers = Array.from({ length: 20 }, attack)
    for (let call = 1; call <= 200; call += 1) {
      const { statuses } = await client.decide(requestFor('d', descriptor('honest=h')))
      assert.equal(statuses[0]?.limitRemaining, 1_000_000 - call)
    }
    isOver = true
    assert.deepEqual(new Set(await Promise.all(attackers)), new Set([0]))
  })
  assert.equal(service.hasEnded, false)
}

test('large requests to a service that counts in memory', (t) => runAll(t, {}))

test('large requests to a service that counts in Redis', async (t) => {
  const redis = await open(t, 'redis')
  if (redis) await runAll(t, { KVSTORE_URL: `127.0.0.1:${redis.port}` })
})
