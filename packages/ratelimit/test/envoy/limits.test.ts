/**
 * @servers envoy
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { exampleRules, openFront, readStatuses } from '../support/envoy-front.ts'
import { openService } from '../support/service-app.ts'
import { readRule } from '../support/service-client.ts'

/** A constant time, 20 seconds into a future minute, so that no window ends during a test. */
const startMs = (Math.ceil(Date.now() / 86_400_000) + 1) * 86_400_000 + 20_000
const now = () => startMs

async function openExample(t: TestContext, change?: Parameters<typeof openFront>[1]['change']) {
  const service = await openService(t, {
    rules: exampleRules,
    env: { LIMIT_RESPONSE_HEADERS_ENABLED: 'true' },
    now,
  })
  const envoy = await openFront(t, {
    grpcAddresses: [service.grpcAddress],
    failureModeDeny: true,
    ...(change && { change }),
  })
  return envoy && { service, envoy }
}

test('Envoy with the example configuration', async (t) => {
  const opened = await openExample(t)
  if (!opened) return
  const { service, envoy } = opened

  await t.test('refuses requests over the limit, with both kinds of headers', async () => {
    const read = async () => {
      const response = await fetch(`${envoy.url}/login`)
      await response.arrayBuffer()
      const { status, headers } = response
      const names = [
        ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
        ...['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-envoy-ratelimited'],
      ]
      return [status, ...names.map((name) => headers.get(name))]
    }
    const policy = '5, 5;w=60'
    assert.deepEqual(await read(), [200, policy, '4', '40', '5', '4', '40', null])
    for (let call = 2; call <= 5; call += 1) assert.equal((await read())[0], 200)
    assert.deepEqual(await read(), [429, policy, '0', '40', '5', '0', '40', 'true'])
  })

  await t.test('counts each value of a header separately, in addition to the address', async () => {
    const count = 11
    const asKey = (key: string) => ({ count, headers: { 'x-api-key': key } })
    const ten = Array.from({ length: 10 }, () => 200)
    assert.deepEqual(await readStatuses(envoy, '/', asKey('one')), [...ten, 429])
    assert.deepEqual(await readStatuses(envoy, '/', asKey('two')), [...ten, 429])
    assert.deepEqual(await readStatuses(envoy, '/', asKey('big-customer')), [...ten, 200])
    const { total_hits } = await readRule(service, 'web.remote_address')
    assert.equal(total_hits, 33)
  })

  await t.test('allows requests over a limit in shadow mode', async () => {
    assert.deepEqual(await readStatuses(envoy, '/beta/x', { count: 5 }), [200, 200, 200, 200, 200])
    const { shadow_mode, over_limit } = await readRule(service, 'web.generic_key_beta')
    assert.deepEqual({ shadow_mode, over_limit }, { shadow_mode: 2, over_limit: 2 })
  })

  await t.test('counts several hits for one request', async () => {
    assert.deepEqual(await readStatuses(envoy, '/export', { count: 5 }), [200, 200, 200, 200, 429])
    const { total_hits } = await readRule(service, 'web.generic_key_export')
    assert.equal(total_hits, 25)
  })
})

test('a limit that Envoy sends overrides the rule', async (t) => {
  const opened = await openExample(t, ({ httpFilters, virtualHost }) => {
    httpFilters.unshift({
      name: 'envoy.filters.http.set_metadata',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.filters.http.set_metadata.v3.Config',
        metadata: [
          {
            metadata_namespace: 'limits',
            value: { address: { requests_per_unit: 2, unit: 'HOUR' } },
          },
        ],
      },
    })
    virtualHost.rate_limits = [
      {
        actions: [{ remote_address: {} }],
        limit: {
          dynamic_metadata: { metadata_key: { key: 'limits', path: [{ key: 'address' }] } },
        },
      },
    ]
  })
  if (!opened) return
  assert.deepEqual(await readStatuses(opened.envoy, '/', { count: 3 }), [200, 200, 429])
  const response = await fetch(opened.envoy.url)
  await response.arrayBuffer()
  assert.equal(response.headers.get('x-ratelimit-limit'), '2, 2;w=3600')
})
