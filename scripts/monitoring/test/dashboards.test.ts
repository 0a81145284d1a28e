import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { dashboards } from '../dashboards.ts'
import { toRunbookUrl } from '../runbooks.ts'
import { alerts, rules, toServer } from './support/rule-files.ts'

interface BuiltPanel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly datasource?: { readonly uid: string }
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } }
  readonly targets?: readonly {
    readonly expr: string
    readonly datasource: { readonly uid: string }
  }[]
  readonly links?: readonly { readonly url: string }[]
}

for (const [path, { content, text }] of dashboards) {
  const name = basename(path)
  const dashboard = JSON.parse(text)
  const panels: readonly BuiltPanel[] = dashboard.panels
  const charts = panels.filter(({ type }) => type !== 'row')

  test(`${name} is up to date`, () => {
    if (process.env['UPDATE_DASHBOARDS'] === '1') writeFileSync(path, text)
    assert.ok(
      existsSync(path) && readFileSync(path, 'utf8') === text,
      `${name} is out of date: UPDATE_DASHBOARDS=1 writes it`,
    )
  })

  test(`${name} works in Grafana 10 and with any data source`, () => {
    assert.ok(dashboard.schemaVersion >= 38)
    const [first, ...others] = dashboard.templating.list
    assert.deepEqual(
      [first.name, first.type, first.query],
      ['datasource', 'datasource', 'prometheus'],
    )
    const users = [...others, ...dashboard.annotations.list, ...charts]
    for (const user of users) assert.equal(user.datasource.uid, '$datasource', user.title)
    const targets = charts.flatMap(({ targets }) => targets ?? [])
    assert.ok(targets.length > charts.length)
    for (const target of targets) assert.equal(target.datasource.uid, '$datasource')
  })

  test(`every panel of ${name} has a description, a unit and its own place`, () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    assert.equal(new Set(charts.map(({ title }) => title)).size, charts.length)
    const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    assert.equal(new Set(places).size, places.length, 'panels overlap')
    assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24))
    for (const { title, description = '', fieldConfig } of charts) {
      assert.match(description, /^.{20,}\.$/, title)
      assert.ok(fieldConfig?.defaults.unit, title)
    }
  })

  test(`every alert has a link to its runbook in a panel of ${name}, and every link leads to an alert`, () => {
    const own = alerts
      .map(({ alert }) => alert)
      .filter((alert) => toServer(alert) === content.server)
    const linked = new Set(charts.flatMap(({ links = [] }) => links.map(({ url }) => url)))
    assert.deepEqual(
      [...linked].toSorted(),
      own.map((alert) => toRunbookUrl(content.server, alert)).toSorted(),
    )
  })

  test(`${name} shows the budgets that the alerts use`, () => {
    const budgets = new Map<string, string>()
    for (const { expr } of rules) {
      const found = expr.matchAll(/(job:\w+):ratio_rate1h > 14\.4 \* ([\d.]+)/g)
      for (const [, series = '', budget = ''] of found) budgets.set(series, budget)
    }
    const shown = charts.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => [
        ...expr.matchAll(/(job:\w+):ratio_rate\w+\{[^}]*\} \/ ([\d.]+)/g),
      ]),
    )
    assert.equal(shown.length, 6)
    for (const [, series = '', budget] of shown) assert.equal(budget, budgets.get(series), series)
  })
}
