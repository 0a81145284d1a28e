import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareReports, toComparisonText } from '../../../../src/tools/replay/report/comparison.ts'
import { toReportText } from '../../../../src/tools/replay/report/report-text.ts'
import { toShareText } from '../../../../src/tools/replay/report/table.ts'
import { perMinute, reportOf } from '../support/report.ts'

const plain = { hasColor: false, showsAll: false }

suite('a report as text', () => {
  test('shows what was refused, by which rules and for which keys', (t) => {
    assert.equal(
      toReportText(reportOf(t, perMinute(20)), plain),
      `log         3,600 lines, 2026-01-01 00:00:00 to 2026-01-01 01:00:00 UTC (1 h)
requests    3,600
refused     2,400 (66.7 %)

rule      limit      requests  allowed  near  refused   share     peak  first                last
api.user  20/minute     3,600    1,200   240    2,400  66.7 %  60 3.0x  2026-01-01 00:00:20  2026-01-01 00:59:59

refused most often
refused  key             rule      first                last
  2,400  api_user_a_60s  api.user  2026-01-01 00:00:20  2026-01-01 00:59:59
`,
    )
  })

  test('shows hits if they differ from the number of requests', (t) => {
    const report = reportOf(t, perMinute(20))
    const perRule = report.perRule.map((rule) => ({ ...rule, hits: { ...rule.hits, total: 7200 } }))
    const text = toReportText({ ...report, perRule }, plain)
    assert.match(text, /^rule +limit +requests +hits +allowed/m)
    assert.match(text, /^api\.user +20\/minute +3,600 +7,200 +1,200/m)
  })

  test('has colors only if the terminal supports them', (t) => {
    const report = reportOf(t, perMinute(20))
    assert(!toReportText(report, plain).includes('\u001b'))
    assert(toReportText(report, { ...plain, hasColor: true }).includes('\u001b[31m'))
  })

  test('mentions rules that matched no request, and lists them with --all', (t) => {
    const yaml = `${perMinute(20)}  - { key: never, rate_limit: { unit: day, requests_per_unit: 1 } }\n`
    const report = reportOf(t, yaml)
    assert.match(toReportText(report, plain), /^1 rule matched no request \(--all lists them\)$/m)
    assert.match(toReportText(report, { ...plain, showsAll: true }), /^api\.never +0 +0/m)
  })

  test('does not let the log control the terminal', (t) => {
    const examples = [{ log: 'log', line: 7, reason: 'no JSON', text: '\u001b[2J{' }]
    const report = reportOf(t, perMinute(20), 'user=\u001b]0;x', { unreadable: 3, examples })
    const text = toReportText(report, plain)
    assert(!text.includes('\u001b'))
    assert.match(text, /^log:7: no JSON\n {2}\ufffd\[2J\{\nand 2 more$/m)
  })

  test('does not round small shares to 0 % or large ones to 100 %', () => {
    const shares = [0, 1e-6, 0.004, 0.25, 0.999, 0.999999, 1].map(toShareText)
    assert.deepEqual(shares, ['0 %', '<0.01 %', '0.40 %', '25.0 %', '99.90 %', '>99.99 %', '100 %'])
  })
})

suite('a comparison', () => {
  test('shows what changes for each rule', (t) => {
    const comparison = compareReports(reportOf(t, perMinute(20)), reportOf(t, perMinute(30)))
    assert.deepEqual([comparison.refusedBefore, comparison.refusedAfter], [2400, 1800])
    const text = toComparisonText(comparison, false)
    assert.match(text, /^refused {5}2,400 before, 1,800 after \(-600\)$/m)
    assert.match(text, /^api\.user +20\/minute +30\/minute +3,600 +3,600 +2,400 +1,800 +-600$/m)
  })

  test('shows refusals in shadow mode on their own line', (t) => {
    const shadow = perMinute(20).replace(' } }', ' }, shadow_mode: true }')
    const comparison = compareReports(reportOf(t, perMinute(30)), reportOf(t, shadow))
    const text = toComparisonText(comparison, false)
    assert.match(
      text,
      /^refused {5}1,800 before, 0 after \(-1,800\)\nshadow {6}0 before, 2,400 after \(\+2,400\)$/m,
    )
    assert.match(text, /^api\.user .* 1,800 +2,400 +\+600$/m)
  })

  test('of the same rules shows no difference', (t) => {
    const { differences } = compareReports(reportOf(t, perMinute(20)), reportOf(t, perMinute(20)))
    assert.deepEqual(differences, [])
  })

  test('shows rules that only one side has', (t) => {
    const { differences } = compareReports(
      reportOf(t, perMinute(20)),
      reportOf(t, perMinute(20, 'other')),
    )
    assert.deepEqual(
      differences.map(({ path, refusedBefore, refusedAfter }) => [
        path,
        refusedBefore,
        refusedAfter,
      ]),
      [['api.user', 2400, 0]],
    )
  })
})
