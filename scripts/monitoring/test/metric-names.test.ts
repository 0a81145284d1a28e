/**
 * @servers redis, memcached
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { dashboards } from '../dashboards.ts'
import { readAuthPage } from './support/auth-metrics.ts'
import { pages } from './support/documentation.ts'
import { findMetricNames, findUnknownNames } from './support/metric-names.ts'
import { hit, openServices } from './support/ratelimit-servers.ts'
import { rules } from './support/rule-files.ts'

const recorded = new Set(rules.flatMap(({ record }) => record ?? []))

/** The names in a page of metrics, with the suffixes of histograms. */
function toNames(page: string): ReadonlySet<string> {
  return new Set(page.match(/^[a-zA-Z_:][\w:]*/gm))
}

async function readServiceNames(t: TestContext): Promise<ReadonlySet<string> | undefined> {
  const opened = await openServices(t)
  if (!opened) return undefined
  const pages = opened.services.map(async (service) => {
    await hit(service, 'shop', 3)
    await hit(service, 'unknown', 1)
    return await (await fetch(`http://${service.target}/metrics`)).text()
  })
  return toNames((await Promise.all(pages)).join(''))
}

test('metric names are found in expressions', () => {
  const expression =
    'topk(10, sum by (le, code) (rate(a_bucket{le="b", x=~"(c|d)"}[$__rate_interval]))) / on (job) job:e:rate5m and min({__name__=~"f(g)?"}) > 14.4 * 0.001 or histogram_quantile(0.5, h) == inf'
  assert.deepEqual(findMetricNames(expression), ['a_bucket', 'job:e:rate5m', 'h', '/f(g)?/'])
  assert.deepEqual(findUnknownNames(expression, [new Set(['a_bucket', 'fg'])]), [
    'job:e:rate5m',
    'h',
  ])
})

test('every metric in rules, dashboards and documentation exists in the output of a server', async (t) => {
  const services = await readServiceNames(t)
  if (!services) return
  const known = { auth: toNames(await readAuthPage(t)), ratelimit: services }
  const all = [known.auth, known.ratelimit, recorded]

  await t.test('rules', () => {
    for (const { expr } of rules) assert.deepEqual(findUnknownNames(expr, all), [], expr)
  })

  for (const [path, { content, text }] of dashboards) {
    await t.test(`dashboard ${content.server}`, () => {
      const own = [known[content.server], recorded]
      const { panels, templating } = JSON.parse(text)
      const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      for (const { definition } of templating.list) {
        const [, metric] = /^label_values\(([^,]+),/.exec(definition ?? '') ?? []
        if (metric !== undefined) expressions.push(metric)
      }
      assert.ok(expressions.length > 30, path)
      for (const each of expressions) assert.deepEqual(findUnknownNames(each, own), [], each)
    })
  }

  await t.test('documentation', () => {
    assert.equal(pages.length, 3)
    for (const { path, text, queries } of pages) {
      // In running text, the names of metrics and of recorded series have a recognisable beginning.
      const begins =
        /`((?:auth|ratelimit|http|db_client|nodejs|v8js|process|job|job_channel)[_:][^`\s]+)`/g
      const names = [...text.matchAll(begins)].map(([, name = '']) => name)
      for (const each of [...queries, ...names]) {
        assert.deepEqual(findUnknownNames(each, all), [], `${path}: ${each}`)
      }
    }
  })
})
