// Builds dashboards for Grafana 10 and later. The content of a dashboard is a list of questions, each with the panels
// that answer it. This file adds everything that all panels have in common.

import { toRunbookUrl } from './runbooks.ts'

/** A PromQL expression, and how its series are named in the legend. */
export type Query = readonly [expression: string, legend: string]

export interface Panel {
  readonly title: string
  /** What it shows, and how to read it. */
  readonly description: string
  /** Default: `graph`. */
  readonly kind?: 'graph' | 'stat'
  /** A unit of Grafana: `s`, `bytes`, `percentunit`, `reqps`. */
  readonly unit: string
  readonly queries: readonly Query[]
  /** Values above this one are shown as bad. */
  readonly limit?: number
  /** Values below the limit are bad, instead of those above it. */
  readonly isBadBelow?: true
  readonly isStacked?: true
  /** The text instead of "No data", for series that exist only after an event or with a setting. */
  readonly ifMissing?: string
  /** The alerts that this panel explains. */
  readonly alerts?: readonly string[]
}

export interface Question {
  readonly title: string
  readonly panels: readonly Panel[]
}

export interface DashboardContent {
  /** The name of the server is also the default of the label `job` and the name of the page of runbooks. */
  readonly server: 'auth' | 'ratelimit'
  readonly title: string
  readonly description: string
  /** A metric that only this server has. The dashboard finds jobs and instances by it. */
  readonly ownMetric: string
  readonly alertPrefix: string
  readonly questions: readonly Question[]
}

const datasource = { type: 'prometheus', uid: '$datasource' }
const columns = 24
const sizes = { graph: { w: 8, h: 8 }, stat: { w: 4, h: 4 } } as const

export function toDashboard(content: DashboardContent): object {
  const { server, title, description } = content
  return {
    uid: `portcullis-${server}`,
    title,
    description,
    tags: ['portcullis', server],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    templating: { list: toVariables(content) },
    annotations: { list: [toAlertMarks(content)] },
    links: toLinks(server),
    panels: toPanels(content),
  }
}

function toVariables({ server, ownMetric }: DashboardContent): object[] {
  const query = (name: string, label: string, text: string, more: object) => ({
    ...{ name, label, type: 'query', datasource, refresh: 2, sort: 1, ...more },
    definition: text,
    query: text,
  })
  return [
    { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
    query('job', 'Job', `label_values(${ownMetric}, job)`, {
      current: { text: server, value: server },
    }),
    query('instance', 'Instance', `label_values(${ownMetric}{job="$job"}, instance)`, {
      ...{ multi: true, includeAll: true, allValue: '.*' },
      current: { text: ['All'], value: ['$__all'] },
    }),
  ]
}

function toAlertMarks({ alertPrefix }: DashboardContent): object {
  return {
    name: 'Alerts',
    datasource,
    enable: true,
    iconColor: 'red',
    expr: `ALERTS{alertname=~"${alertPrefix}.+", alertstate="firing"}`,
    titleFormat: '{{alertname}}',
    textFormat: '{{instance}}',
  }
}

/** The schema of Grafana requires every field, including those that a link does not use. */
function toLink(title: string, url: string): object {
  return {
    ...{ type: 'link', title, url, icon: 'doc', tooltip: '', tags: [] },
    ...{ asDropdown: false, targetBlank: true, includeVars: false, keepTime: false },
  }
}

function toLinks(server: string): object[] {
  const others = { type: 'dashboards', icon: 'dashboard', tags: ['portcullis'] }
  return [
    toLink('Runbooks', toRunbookUrl(server)),
    { ...toLink('Portcullis', ''), ...others, targetBlank: false, keepTime: true },
  ]
}

/** Places each question in a row, with its panels from left to right below it. */
function toPanels({ server, questions }: DashboardContent): object[] {
  const panels: object[] = []
  let y = 0
  for (const { title, panels: own } of questions) {
    panels.push({
      ...{ id: panels.length + 1, type: 'row', title, collapsed: false, panels: [] },
      gridPos: { x: 0, y, w: columns, h: 1 },
    })
    y += 1
    let x = 0
    let height = 0
    for (const panel of own) {
      const { w, h } = sizes[panel.kind ?? 'graph']
      if (x + w > columns) {
        x = 0
        y += height
        height = 0
      }
      panels.push({ id: panels.length + 1, gridPos: { x, y, w, h }, ...toPanel(server, panel) })
      x += w
      height = Math.max(height, h)
    }
    y += height
  }
  return panels
}

function toPanel(server: string, panel: Panel): object {
  const { title, description, kind = 'graph', queries, alerts = [] } = panel
  return {
    type: kind === 'stat' ? 'stat' : 'timeseries',
    title,
    description,
    datasource,
    fieldConfig: { defaults: toFieldDefaults(panel), overrides: [] },
    options: kind === 'stat' ? statOptions : graphOptions,
    targets: queries.map(([expr, legendFormat], index) => ({
      ...{ refId: String.fromCodePoint(65 + index), datasource, editorMode: 'code' },
      ...{ expr, legendFormat, range: kind === 'graph', instant: kind === 'stat' },
    })),
    links: alerts.map((alert) => toLink(`Runbook: ${alert}`, toRunbookUrl(server, alert))),
  }
}

function toFieldDefaults({ kind, unit, limit, isBadBelow, isStacked, ifMissing }: Panel): object {
  const [low, high] = isBadBelow ? ['red', 'green'] : ['green', 'red']
  const steps = [{ color: limit === undefined ? 'green' : low, value: null }]
  const lines = { fillOpacity: isStacked ? 40 : 10, lineWidth: 1, showPoints: 'never' }
  return {
    unit,
    // A budget, which is shown as a stat, can be negative, so only graphs begin at 0.
    ...(kind !== 'stat' && { min: 0 }),
    ...(ifMissing !== undefined && { noValue: ifMissing }),
    thresholds: {
      mode: 'absolute',
      steps: limit === undefined ? steps : [...steps, { color: high, value: limit }],
    },
    ...(kind === 'stat'
      ? { color: { mode: 'thresholds' } }
      : {
          color: { mode: 'palette-classic' },
          custom: {
            ...lines,
            stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
            thresholdsStyle: { mode: limit === undefined ? 'off' : 'dashed' },
          },
        }),
  }
}

const statOptions = {
  reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
  colorMode: 'background',
  graphMode: 'none',
  textMode: 'auto',
  justifyMode: 'auto',
  orientation: 'auto',
  wideLayout: true,
  showPercentChange: false,
  percentChangeColorMode: 'standard',
}

const graphOptions = {
  legend: { displayMode: 'table', placement: 'bottom', showLegend: true, calcs: ['mean', 'max'] },
  tooltip: { mode: 'multi', sort: 'desc' },
}
