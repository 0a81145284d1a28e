import {
  type CountsReport,
  type Report,
  type RuleReport,
  type TimelineReport,
  toLimitText,
} from './report.ts'
import { toNumberText, toShareText } from './table.ts'

const width = 960
const left = 64
const right = 24
const overallHeight = 220
const ruleHeight = 96
const panelGap = 66
const headHeight = 112
/** The maximum number of rules with a separate panel. */
const mostPanels = 8

/**
 * Colors for light and dark mode. Allowed and refused also differ in lightness, for viewers who cannot
 * distinguish the hues.
 */
const style = `
  svg { --page: #ffffff; --text: #1f2933; --quiet: #66727f; --grid: #dfe4ea; --allowed: #7fb0e6; --refused: #c2321f; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #14181d; --text: #e6eaef; --quiet: #98a4b1; --grid: #2c343d; --allowed: #3f6ea5; --refused: #ff7a62; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--quiet); }
  .title { font-size: 18px; font-weight: 600; fill: var(--text); }
  .name { font-size: 13px; font-weight: 600; fill: var(--text); }
  .page { fill: var(--page); }
  .grid { stroke: var(--grid); stroke-width: 1; shape-rendering: crispEdges; }
  .allowed { fill: var(--allowed); }
  .refused { fill: var(--refused); }`

/** Draws requests over time as an SVG document: all requests, then the rules that refused most. */
export function drawChart(report: Report): string {
  const { timeline } = report
  const panels = toPanels(report)
  const heights = panels.map(({ height }) => height + panelGap)
  const height = headHeight + heights.reduce((sum, each) => sum + each, 0)
  let top = headHeight
  const drawn = panels.map((panel) => {
    const text = timeline === null ? '' : drawPanel(panel, timeline, top)
    top += panel.height + panelGap
    return text
  })
  const title = 'What the rules would have refused'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<text class="title" x="24" y="34">${escapeXml(title)}</text>`,
    `<text x="24" y="54">${escapeXml(toSubtitle(report))}</text>`,
    drawLegend(),
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

interface Panel {
  readonly name: string
  readonly note: string
  readonly height: number
  readonly counts: CountsReport
}

function toPanels({ timeline, requests, perRule }: Report): Panel[] {
  if (timeline === null) return []
  const share = requests.total === 0 ? 0 : requests.refused / requests.total
  const overall = {
    name: 'all requests',
    note: `${toNumberText(requests.refused)} of ${toNumberText(requests.total)} refused (${toShareText(share)})`,
    height: overallHeight,
    counts: timeline,
  }
  return [overall, ...perRule.slice(0, mostPanels).flatMap(toRulePanel)]
}

function toRulePanel({ path, limit, requests, shareRefused, timeline }: RuleReport): Panel[] {
  if (timeline === null || shareRefused === 0) return []
  const over = requests.refused + requests.shadowRefused
  const what = requests.refused === 0 ? 'over the limit in shadow' : 'refused'
  const note =
    `${toLimitText(limit)}: ${toNumberText(over)} of ${toNumberText(requests.total)} ` +
    `${what} (${toShareText(shareRefused)})`
  return [{ name: path, note, height: ruleHeight, counts: timeline }]
}

function toSubtitle({ rules, from, to, timeline }: Report): string {
  if (from === null || to === null || timeline === null) return `${rules}: no request`
  return `${rules}, ${from.slice(0, 19)} to ${to.slice(0, 19)} UTC, requests per ${toWidthText(timeline.bucketSeconds)}`
}

function toWidthText(seconds: number): string {
  const units: [seconds: number, name: string][] = [
    [604_800, 'week'],
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ]
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, 'second']
  const amount = seconds / size
  return amount === 1 ? name : `${amount} ${name}s`
}

function drawLegend(): string {
  const entries = [
    ['allowed', 'allowed'],
    ['refused', 'refused, or over the limit of a rule in shadow mode'],
  ] as const
  let x = 24
  return entries
    .map(([kind, label]) => {
      const drawn =
        `<rect class="${kind}" x="${x}" y="66" width="12" height="12" rx="2"/>` +
        `<text x="${x + 18}" y="76">${label}</text>`
      x += 30 + label.length * 7
      return drawn
    })
    .join('\n')
}

function drawPanel(
  { name, note, height, counts }: Panel,
  timeline: TimelineReport,
  top: number,
): string {
  const buckets = counts.allowed.length
  const inner = width - left - right
  const step = inner / buckets
  const most = Math.max(1, ...counts.allowed.map((count, i) => count + (counts.refused[i] ?? 0)))
  const scale = toScale(most)
  const base = top + 18 + height
  const toHeight = (count: number) => (count / scale.top) * height
  const shownName = name.length > 70 ? `${name.slice(0, 69)}…` : name
  const lines = scale.ticks.map((tick) => {
    const y = round(base - toHeight(tick))
    return (
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}"/>` +
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${toShortNumber(tick)}</text>`
    )
  })
  const toY = (values: (index: number) => number) =>
    Array.from({ length: buckets }, (_, i) => round(base - toHeight(values(i))))
  const refused = toY((i) => counts.refused[i] ?? 0)
  const all = toY((i) => (counts.refused[i] ?? 0) + (counts.allowed[i] ?? 0))
  const floor = all.map(() => base)
  return [
    `<g><title>${escapeXml(`${name}: ${note}`)}</title>`,
    `<text class="name" x="24" y="${top}">${escapeXml(shownName)}</text>`,
    `<text x="${width - right}" y="${top}" text-anchor="end">${escapeXml(note)}</text>`,
    ...lines,
    `<path class="allowed" d="${drawSteps(all, refused, step)}"/>`,
    `<path class="refused" d="${drawSteps(refused, floor, step)}"/>`,
    ...drawTimes(timeline, buckets, base, height),
    '</g>',
  ].join('\n')
}

/** Draws bars as one path, because a rectangle for each would take megabytes. Empty bars are omitted. */
function drawSteps(tops: readonly number[], bottoms: readonly number[], step: number): string {
  // Wide bars have gaps between them.
  const gap = step > 6 ? 1 : 0
  return tops
    .map((y, i) => {
      const tall = round((bottoms[i] ?? y) - y)
      if (tall <= 0) return ''
      const [x, wide] = [round(left + i * step), round(Math.max(step - gap, 0.5))]
      return `M${x} ${y}h${wide}v${tall}h${-wide}z`
    })
    .join('')
}

/** Steps of 1, 2 or 5 times a power of ten, with at most four of them. */
function toScale(most: number): { top: number; ticks: number[] } {
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power
  const top = Math.ceil(most / step) * step
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step)
  return { top, ticks }
}

/** Natural steps of a time axis, in seconds. */
const timeSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
  172_800, 604_800, 1_209_600, 2_419_200, 7_257_600, 31_536_000,
] as const
const mostTimes = 10

function drawTimes(
  { start, bucketSeconds }: TimelineReport,
  buckets: number,
  base: number,
  height: number,
): string[] {
  const from = Date.parse(start) / 1000
  const until = from + buckets * bucketSeconds
  const size = timeSteps.find((step) => (until - from) / step <= mostTimes) ?? 31_536_000
  const pixels = (width - left - right) / (until - from)
  const labels: string[] = []
  for (let time = Math.ceil(from / size) * size; time <= until; time += size) {
    const x = round(left + (time - from) * pixels)
    // The last label must not extend beyond the image.
    const anchor = x > width - right - 30 ? 'end' : 'middle'
    labels.push(
      `<line class="grid" x1="${x}" x2="${x}" y1="${base}" y2="${base + 5}"/>` +
        `<text x="${x}" y="${base + 18}" text-anchor="${anchor}">${toTimeLabel(time, size)}</text>`,
    )
  }
  return [
    `<line class="grid" x1="${left}" x2="${left}" y1="${base - height}" y2="${base}"/>`,
    ...labels,
  ]
}

function toTimeLabel(seconds: number, step: number): string {
  const iso = new Date(seconds * 1000).toISOString()
  if (step >= 86_400 || iso.slice(11, 19) === '00:00:00') return iso.slice(0, 10)
  return iso.slice(11, step < 60 ? 19 : 16)
}

function toShortNumber(number: number): string {
  if (number >= 1e6) return `${round(number / 1e6)}M`
  return number >= 10_000 ? `${round(number / 1e3)}k` : String(number)
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}

/** XML does not allow control characters, not even escaped ones. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
}
