/**
 * @servers memcached
 */
// Checks that settings reach the components: each is set in the environment and used once or twice.

import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { openAdsServer, toRules } from '../rules/sources/xds/support/ads-server.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { startService, until } from '../support/service-process.ts'

const rules = {
  'd.yaml': 'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 5 } }]',
}
const request = requestFor('d', descriptor('k=v'))

test('BACKEND_TYPE=memcache counts in memcached', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const env = {
    BACKEND_TYPE: 'memcache',
    MEMCACHE_HOST_PORT: `127.0.0.1:${memcached.port}`,
    STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true',
  }
  const remaining = async () => {
    const service = await openService(t, { rules, env })
    const client = await openDecisionClient(t, service)
    const { statuses } = await client.decide(request)
    assert.equal(await service.stop(), 0)
    return statuses[0]?.limitRemaining
  }
  // The second service sees the hit of the first, so it was counted outside the process.
  assert.deepEqual([await remaining(), await remaining()], [4, 3])
})

test('CONFIG_TYPE=GRPC_XDS_SOTW loads the rules of the management server and follows changes', async (t) => {
  const ads = await openAdsServer(t, {
    onStream: (stream) => stream.send({ version: '1', nonce: 'a', resources: [toRules(7)] }),
  })
  const env = { CONFIG_TYPE: 'GRPC_XDS_SOTW', CONFIG_GRPC_XDS_SERVER_URL: ads.url }
  const service = await startService(t, { rules, env })
  const client = await openDecisionClient(t, service)
  const limit = async () =>
    (await client.decide(request)).statuses[0]?.currentLimit?.requestsPerUnit
  assert.equal(await limit(), 7)
  const stream = await ads.stream(1)
  stream.send({ version: '2', nonce: 'b', resources: [toRules(70)] })
  await until(
    async () => (await limit()) === 70,
    () => 'the second version is in force',
  )
  assert.equal(await service.stop(), 0)
})

test('statistics are sent to statsd over TCP, the last ones at shutdown', async (t) => {
  let received = ''
  const sockets = new Set<Socket>()
  const statsd = createServer((socket) => {
    sockets.add(socket)
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => statsd.once('listening', resolve))
  t.after(() => {
    statsd.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = statsd.address()
  assert.ok(address !== null && typeof address === 'object')
  const env = {
    DISABLE_STATS: 'false',
    STATSD_HOST: '127.0.0.1',
    STATSD_PORT: `${address.port}`,
    STATS_FLUSH_INTERVAL: '1h',
  }
  const service = await openService(t, { rules, env })
  const client = await openDecisionClient(t, service)
  await client.decide(request)
  assert.equal(await service.stop(), 0)
  const line = 'ratelimit.service.rate_limit.d.k.total_hits:1|c\n'
  await until(
    () => received.includes(line),
    () => `statsd received everything:\n${received}`,
  )
})

test('USE_PROMETHEUS=true opens a page with the statistics', async (t) => {
  const env = {
    DISABLE_STATS: 'false',
    USE_STATSD: 'false',
    USE_PROMETHEUS: 'true',
    PROMETHEUS_ADDR: '127.0.0.1:0',
  }
  const service = await openService(t, { rules, env })
  const client = await openDecisionClient(t, service)
  await client.decide(request)
  const [, url] = /Listening for Prometheus on '([^']+)'/.exec(service.log.join('\n')) ?? []
  const page = await (await fetch(`http://${url}`)).text()
  assert.match(page, /^ratelimit_service_rate_limit_total_hits\{domain="d",key1="k"\} 1$/m)
})
