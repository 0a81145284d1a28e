import assert from 'node:assert/strict'
import { test } from 'node:test'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, readStatistics } from '../support/service-client.ts'

const rules = `
domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - { key: to_number, rate_limit: { unit: day, requests_per_unit: 5 } }
  - { key: to_number, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 100 } }
  - { key: staff, rate_limit: { unlimited: true } }
  - { key: placeholder }
`

async function get(url: string, method = 'GET') {
  const response = await fetch(url, { method })
  const type = response.headers.get('content-type')
  return { status: response.status, type, text: await response.text() }
}

const plain = 'text/plain; charset=utf-8'

test('/healthcheck is OK for any method', async (t) => {
  const { httpUrl } = await openService(t, { rules })
  for (const method of ['GET', 'POST', 'PUT']) {
    assert.deepEqual(await get(`${httpUrl}/healthcheck`, method), {
      status: 200,
      type: plain,
      text: 'OK',
    })
  }
  assert.equal((await get(`${httpUrl}/healthcheck`, 'HEAD')).status, 200)
})

test('/healthcheck of an unhealthy service returns 500 without a body', async (t) => {
  const { httpUrl } = await openService(t, {
    env: { HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: 'true' },
  })
  const { status, text } = await get(`${httpUrl}/healthcheck`)
  assert.deepEqual([status, text], [500, ''])
})

test('paths are exact, and unknown paths return 404', async (t) => {
  const { httpUrl } = await openService(t, { rules })
  for (const path of ['/', '/json/', '/JSON', '/healthcheck/', '/stats', '/json/../x']) {
    assert.deepEqual(await get(`${httpUrl}${path}`), {
      status: 404,
      type: plain,
      text: '404 page not found\n',
    })
  }
  assert.equal((await get(`${httpUrl}/healthcheck?probe=1`)).status, 200)
})

test('the debug listener lists its pages on every unknown path', async (t) => {
  const { debugUrl } = await openService(t, { rules })
  const { status, text } = await get(`${debugUrl}/`)
  assert.equal(status, 200)
  const lines = text.trimEnd().split('\n')
  const paths = lines.map((line) => line.slice(0, line.indexOf(':')))
  assert.deepEqual(paths, paths.toSorted())
  for (const line of [
    '/debug/pprof/: root of various pprof endpoints. hit for help.',
    '/rlconfig: print out the currently loaded configuration for debugging',
    '/stats: print out stats',
  ]) {
    assert.ok(lines.includes(line), line)
  }
  assert.deepEqual(await get(`${debugUrl}/nowhere`), await get(`${debugUrl}/`))
  assert.equal((await get(`${debugUrl}/debug/pprof/`)).status, 200)
})

test('/rlconfig has a line for each rule with a limit, in the order of the file', async (t) => {
  const { debugUrl } = await openService(t, { rules })
  assert.equal(
    (await get(`${debugUrl}/rlconfig`)).text,
    [
      'messaging.message_type_marketing.to_number: unit=DAY requests_per_unit=5, shadow_mode: false, quota_mode: false',
      'messaging.to_number: unit=DAY requests_per_unit=100, shadow_mode: true, quota_mode: false',
      'messaging.staff: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false',
      '',
    ].join('\n'),
  )
  const empty = await openService(t, { rules: 'domain: [' })
  assert.equal((await get(`${empty.debugUrl}/rlconfig`)).text, '')
})

test('/stats lists every counter, including those that are 0', async (t) => {
  const service = await openService(t, { rules })
  const { decide } = await openDecisionClient(t, service)
  await decide(requestFor('messaging', descriptor('to_number=1')))
  const statistics = await readStatistics(service)
  for (const [name, value] of [
    ['ratelimit.service.rate_limit.messaging.to_number.total_hits', 1],
    ['ratelimit.service.rate_limit.messaging.to_number.within_limit', 1],
    ['ratelimit.service.rate_limit.messaging.to_number.shadow_mode', 0],
    ['ratelimit.service.rate_limit.messaging.message_type_marketing.to_number.near_limit', 0],
    ['ratelimit.service.rate_limit.messaging.message_type_marketing.to_number.over_limit', 0],
    ['ratelimit.service.config_load_success', 1],
    ['ratelimit.service.config_load_error', 0],
    ['ratelimit.service.call.should_rate_limit.redis_error', 0],
    ['ratelimit.service.call.should_rate_limit.service_error', 0],
    ['ratelimit.service.global_shadow_mode', 0],
    ['ratelimit_server.ShouldRateLimit.total_requests', 1],
  ] as const) {
    assert.equal(statistics.get(name), value, name)
  }
  for (const [name, value] of statistics) assert.ok(Number.isFinite(value), name)
})

test('/decisions lists the latest requests for ratelimit replay, only if that is configured', async (t) => {
  const service = await openService(t, { rules, env: { DEBUG_RECORDED_DECISIONS: '2' } })
  const { decide } = await openDecisionClient(t, service)
  const { text: listing } = await get(`${service.debugUrl}/`)
  assert.match(listing, /^\/decisions: print out the latest requests/m)
  assert.equal((await get(`${service.debugUrl}/decisions`)).text, '')
  await decide(requestFor('messaging', descriptor('to_number=1')))
  await decide(requestFor('messaging', descriptor('to_number=2')))
  await fetch(`${service.httpUrl}/json`, {
    method: 'POST',
    body: JSON.stringify({
      domain: 'messaging',
      descriptors: [{ entries: [{ key: 'to_number', value: '3' }] }],
    }),
  })
  const { text } = await get(`${service.debugUrl}/decisions`)
  const decisions = text.trimEnd().split('\n')
  assert.deepEqual(
    decisions.map((line) => [
      JSON.parse(line).descriptors[0].entries[0].value,
      JSON.parse(line).code,
    ]),
    [
      ['2', 'OK'],
      ['3', 'OK'],
    ],
  )
  const plainService = await openService(t, { rules })
  assert.doesNotMatch((await get(`${plainService.debugUrl}/decisions`)).text, /^\{|\/decisions/)
})

test('/settings has every setting with its source, and no secret', async (t) => {
  const env = { DEBUG_TOKEN: 'hunter2', NEAR_LIMIT_RATIO: '0.5' }
  const { debugUrl } = await openService(t, { rules, env })
  const { status, type, text } = await get(`${debugUrl}/settings`)
  assert.deepEqual([status, type], [200, 'application/json'])
  assert.ok(!text.includes('hunter2'))
  const { settings }: { settings: readonly { name: string; source: string; value: string }[] } =
    JSON.parse(text)
  const find = (name: string) => settings.find((setting) => setting.name === name)
  assert.equal(find('NEAR_LIMIT_RATIO')?.value, '0.5')
  assert.equal(find('NEAR_LIMIT_RATIO')?.source, 'environment')
  assert.equal(find('GRPC_KEEPALIVE_TIME')?.source, 'default')
})

test('/settings needs the token if the caller may be another website', async (t) => {
  const { debugUrl } = await openService(t, { rules, env: { DEBUG_TOKEN: 'hunter2' } })
  const headers = { 'sec-fetch-site': 'cross-site' }
  assert.equal((await fetch(`${debugUrl}/settings`, { headers })).status, 403)
  const authorization = 'Bearer hunter2'
  const allowed = await fetch(`${debugUrl}/settings`, { headers: { ...headers, authorization } })
  assert.equal(allowed.status, 200)
})
