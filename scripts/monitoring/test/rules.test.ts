import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { provideOrSkip } from '@portcullis/test-servers'
import { toRunbookUrl } from '../runbooks.ts'
import { root } from './support/documentation.ts'
import {
  alerts,
  expectedAlerts,
  rulePaths,
  rules,
  ruleTestPaths,
  toServer,
} from './support/rule-files.ts'

const run = promisify(execFile)
const names = alerts.map(({ alert }) => alert)

test('names of alerts and of recorded series are unique', () => {
  const recorded = rules.flatMap(({ record, labels }) =>
    record ? [`${record} ${JSON.stringify(labels ?? {})}`] : [],
  )
  assert.ok(names.length > 20 && recorded.length > 20)
  assert.equal(new Set(names).size, names.length)
  assert.equal(new Set(recorded).size, recorded.length)
})

test('a recorded rate uses the window in its name', () => {
  for (const { record, expr } of rules) {
    if (record === undefined) continue
    const [, window] = /rate(\d+[mhd])$/.exec(record) ?? []
    assert.ok(window !== undefined, record)
    // A ratio of recorded rates has no window in its expression.
    for (const [, used] of expr.matchAll(/\[(\w+)\]/g)) assert.equal(used, window, record)
  }
})

for (const { alert, labels, annotations } of alerts) {
  test(`${alert} has a severity, texts, a runbook and a dashboard`, () => {
    const server = toServer(alert)
    assert.match(labels?.['severity'] ?? '', /^(?:page|ticket)$/)
    assert.match(annotations?.['summary'] ?? '', /^\S.+[^.]$/)
    assert.match(annotations?.['description'] ?? '', /\.$/)
    assert.equal(annotations?.['runbook_url'], toRunbookUrl(server, alert))
    assert.equal(annotations?.['dashboard'], `/d/portcullis-${server}`)
  })
}

/** The windows and burn rates in the table of docs/monitoring.md. */
const burnRates = {
  BudgetBurn: ['1h 14.4', '5m 14.4', '6h 6', '30m 6'],
  BudgetBurnSlow: ['1d 3', '2h 3', '3d 1', '6h 1'],
}

for (const [suffix, conditions] of Object.entries(burnRates)) {
  for (const { alert, expr } of alerts.filter((each) => each.alert.endsWith(suffix))) {
    test(`${alert} uses the documented windows and burn rates, and one series`, () => {
      const found = [...expr.matchAll(/(job:\w+):ratio_rate(\w+) > (?:([\d.]+) \* )?([\d.]+)/g)]
      assert.deepEqual(
        found.map(([, , window, factor = '1']) => `${window} ${factor}`),
        conditions,
      )
      assert.equal(new Set(found.map(([, series, , , budget]) => `${series} ${budget}`)).size, 1)
    })
  }
}

/** The texts of the runbooks of a server, by alert. */
function readRunbooks(server: string): ReadonlyMap<string, string> {
  const page = readFileSync(join(root, 'docs/runbooks', `${server}.md`), 'utf8')
  const [, ...sections] = page.split(/^## /m)
  return new Map(sections.map((section) => [section.slice(0, section.indexOf('\n')), section]))
}

for (const server of ['auth', 'ratelimit'] as const) {
  test(`docs/runbooks/${server}.md has a complete runbook for each alert, and no other`, () => {
    const runbooks = readRunbooks(server)
    assert.deepEqual(
      [...runbooks.keys()].toSorted(),
      names.filter((alert) => toServer(alert) === server).toSorted(),
    )
    for (const [alert, text] of runbooks) {
      for (const part of ['Meaning', 'Impact', 'Check', 'Fix']) {
        assert.match(
          text,
          new RegExp(`^\\*\\*${part}\\.\\*\\* \\S|^\\*\\*${part}\\.\\*\\*$`, 'm'),
          `${alert}: ${part}`,
        )
      }
    }
  })
}

/** How the runbooks write the durations and windows of the rules. */
const durations: Readonly<Record<string, string>> = {
  ...{ '1m': 'a minute', '2m': '2 minutes', '5m': '5 minutes', '10m': '10 minutes' },
  ...{ '15m': '15 minutes', '30m': '30 minutes' },
  ...{ '1h': 'the last hour', '6h': 'the last six hours' },
  ...{ '1d': 'the last day', '3d': 'the last three days' },
}

for (const { alert, expr, for: duration } of alerts) {
  test(`the runbook of ${alert} states the duration, or the windows and fractions, of the rule`, () => {
    const runbook = readRunbooks(toServer(alert)).get(alert) ?? ''
    const [, text = ''] = /\*\*Meaning\.\*\* (.+?)\n\n/s.exec(runbook) ?? []
    const meaning = text.replaceAll('\n', ' ').toLowerCase()
    const conditions = [...expr.matchAll(/ratio_rate(\w+) > (?:([\d.]+) \* )?([\d.]+)/g)]
    // Each pair of conditions begins with the long window; the runbooks do not mention the short one.
    const long = conditions.filter((_, index) => index % 2 === 0)
    const expected = long.flatMap(([, window = '', factor = '1', budget]) => {
      const percent = Number((Number(factor) * Number(budget) * 100).toFixed(3))
      return [`more than ${percent} %`, durations[window]]
    })
    if (long.length === 0 && duration !== undefined) expected.push(durations[duration])
    for (const part of expected) {
      assert.ok(part !== undefined && meaning.includes(part), `${part} is not in: ${meaning}`)
    }
  })
}

test('every variable in the documentation and the dashboards exists', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const tables = globSync('docs/*-environment.md', { cwd: root }).map(read).join('\n')
  const known = new Set([...tables.matchAll(/`([A-Z\d_]+)`/g)].map(([, name]) => name))
  // The names of hooks, and variables of Node and of the tests.
  for (const name of ['AFTER_USER_CREATED', 'SEND_EMAIL', 'SEND_SMS']) {
    assert.ok(known.has(`AUTH_HOOK_${name}_ENABLED`))
    known.add(name)
  }
  for (const name of ['NODE_OPTIONS', 'UPDATE_DASHBOARDS']) known.add(name)
  const places = ['docs/monitoring.md', 'docs/runbooks/*.md', 'deploy/monitoring/**/*.{yaml,json}']
  for (const path of globSync(places, { cwd: root })) {
    const named = new Set(read(path).match(/\b[A-Z]{2,}(?:_[A-Z\d]+)+\b/g))
    assert.deepEqual(
      [...named].filter((name) => !known.has(name)),
      [],
      path,
    )
  }
})

test('promtool tests expect each alert to fire in one case, and not to fire in another', () => {
  const fired = new Set(expectedAlerts.flatMap(({ alerts }) => alerts))
  assert.deepEqual([...fired].toSorted(), names.toSorted())
  for (const test of new Set(expectedAlerts.map(({ test }) => test))) {
    const checks = expectedAlerts.filter((check) => check.test === test)
    // If no server was ever there, the alert fires from the beginning.
    const isQuietBefore = checks[0]?.alerts.length === 0 || test.startsWith('no server')
    assert.ok(isQuietBefore, `${test}: the first check must expect no alert`)
  }
})

test('promtool accepts the rules, and their tests pass', async (t) => {
  const promtool = await provideOrSkip(t, 'promtool')
  if (promtool === undefined) return
  const checked = await run(promtool, ['check', 'rules', '--lint-fatal', ...rulePaths])
  const counts = [...checked.stdout.matchAll(/SUCCESS: (\d+) rules found/g)].map(
    ([, count]) => count,
  )
  assert.equal(
    counts.reduce((sum, count) => sum + Number(count), 0),
    rules.length,
  )
  // Each file in its own process, so that they use all cores.
  await Promise.all(ruleTestPaths.map((path) => run(promtool, ['test', 'rules', path])))
})
