/**
 * @legs main, endurance
 * @servers postgres, redis, memcached, prometheus
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openLoad } from '../../../packages/ratelimit/test/support/service-load.ts'
import { enduranceOr } from '../../../packages/test-servers/src/endurance.ts'
import { dashboards } from '../dashboards.ts'
import { pages } from './support/documentation.ts'
import { openBusyAuth } from './support/monitored-auth.ts'
import { openMonitoring, type Prometheus } from './support/prometheus.ts'
import { hit, openServices } from './support/ratelimit-servers.ts'
import { alerts } from './support/rule-files.ts'

const settings = enduranceOr(
  { interval: '5s', isImmediate: false },
  { interval: '500ms', isImmediate: true },
)

/** The alerts that must fire after the two faults of this test. */
const expected = [
  ...['AuthErrorBudgetBurn', 'RatelimitErrorBudgetBurn'],
  ...['RatelimitStoreFailing', 'RatelimitStoreDisconnected'],
]

/** The alerts that end soon after the faults. The others end only when a rate over 5 minutes has fallen. */
const endingSoon = enduranceOr(
  ['RatelimitStoreFailing', 'RatelimitStoreDisconnected'],
  ['RatelimitStoreDisconnected'],
)

/** Whether the short run skips a query: the first cleanup begins up to 90 seconds after the start. */
const isLate = (expression: string) => enduranceOr(false, /auth_cleanup_/.test(expression))

/** Whether a query reads series that exist only after the faults. */
const isAfterFault = (expression: string) => /code=~"5\.\."|ALERTS/.test(expression)

/** The queries of all dashboards, with values for their variables. */
const queries = [...dashboards.values()].flatMap(({ content: { server, questions } }) =>
  questions
    .flatMap(({ panels }) => panels.flatMap((panel) => panel.queries))
    .map(([expression]) =>
      expression
        .replaceAll('$job', server)
        .replaceAll('$instance', '.*')
        .replaceAll('$__rate_interval', '1m'),
    )
    .filter((expression) => !isLate(expression)),
)

test('a Prometheus that scrapes busy servers has data for every panel, and reports their faults', async (t) => {
  const [auth, limits] = await Promise.all([openBusyAuth(t), openServices(t)])
  if (!auth || !limits) return
  const entries = [{ key: 'user', value: 'a' }]
  const descriptor = { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
  const request = { domain: 'shop', hitsAddend: 1, descriptors: [descriptor] }
  for (const service of limits.services) {
    await openLoad(t, service, { clients: 1, toRequest: () => request, pauseMs: 20 })
    await hit(service, 'unknown', 1)
  }
  const targets = { auth: [auth.target], ratelimit: limits.services.map(({ target }) => target) }
  const prometheus = await openMonitoring(t, targets, settings)
  if (!prometheus) return

  await t.test('every target can be scraped', async () => {
    await untilResult(prometheus, 'sum(up) == 4')
  })

  await t.test('every panel has data', async () => {
    for (const query of queries) if (!isAfterFault(query)) await untilResult(prometheus, query)
  })

  const readExpected = async (names: readonly string[]) => {
    const firing = await prometheus.readFiring()
    return names.filter((name) => firing.has(name))
  }

  await t.test('none of the expected alerts fires before the faults', async () => {
    assert.deepEqual(await readExpected(expected), [])
  })

  await t.test('alerts report a lost Redis and failing requests', async () => {
    auth.breakSignIns()
    await limits.redis.kill()
    while ((await readExpected(expected)).length < expected.length) await wait(100)
    for (const query of queries) await untilResult(prometheus, query)
  })

  await t.test('alerts end when Redis is back', async () => {
    await limits.redis.restart()
    while ((await readExpected(endingSoon)).length > 0) await wait(100)
  })

  await t.test('the queries of the runbooks are valid', async () => {
    const documented = pages.flatMap((page) => page.queries)
    assert.ok(documented.length > 20)
    for (const query of documented) await prometheus.countSeries(query)
  })

  await t.test('every rule was evaluated without an error', async () => {
    const loaded = await prometheus.readRules()
    assert.ok(loaded.length > alerts.length)
    const bad = loaded.filter(({ health }) => health === 'err')
    assert.deepEqual(
      bad.map(({ name, lastError }) => `${name}: ${lastError}`),
      [],
    )
  })
})

/** Waits until the expression has a result; the test runner ends a test that hangs. */
async function untilResult(prometheus: Prometheus, expression: string): Promise<void> {
  while ((await prometheus.countSeries(expression)) === 0) await wait(100)
}
