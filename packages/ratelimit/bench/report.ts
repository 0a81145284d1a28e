import { drawBarChart } from '@portcullis/bench-kit/bar-chart'
import {
  type Column,
  formatCount,
  formatRatio,
  formatTable,
  left,
  paint,
  right,
} from '@portcullis/bench-kit/table'
import type { Score } from './results.ts'
import type { Group, Shape } from './scenarios.ts'
import type { MemoryResult, Pause } from './solo.ts'

const columns: readonly Column[] = [
  left(''),
  right('calls/CPU-s'),
  right('× peer'),
  right('calls/s'),
  right('p50 ms'),
  right('p99 ms'),
  right('p99.9 ms'),
  right('cores'),
  right('store'),
  right('load'),
]

export function formatShapeTable(scores: readonly Score[], group: Group, shape: Shape): string {
  const rows = scores.map((score) => [
    { text: score.label, style: score.isOurs ? ('bold' as const) : ('reset' as const) },
    formatCount(score.perCpuSecond),
    score.timesPeer === null ? '' : formatRatio(score.timesPeer),
    `${formatCount(score.perSecond)}${score.isLoadBound ? '*' : ''}`,
    score.p50Ms.toFixed(2),
    score.p99Ms.toFixed(2),
    score.p999Ms.toFixed(2),
    score.serverCores.toFixed(2),
    score.storeCores.toFixed(2),
    score.loadCores.toFixed(2),
  ])
  return [
    paint('bold', `${group.title}: ${shape.title}`),
    formatTable(columns, rows),
    ...toNotes(scores),
  ].join('\n')
}

function toNotes(scores: readonly Score[]): readonly string[] {
  const failures = scores
    .filter(({ errors }) => errors > 0)
    .map(({ label, errors }) => paint('red', `${label}: ${formatCount(errors)} calls failed`))
  const isLoadBound = scores.some((score) => score.isLoadBound)
  const note = '* The load generator was the bottleneck: the server can do more than that.'
  return isLoadBound ? [...failures, note] : failures
}

export function formatSolo(memory: MemoryResult | undefined, pauses: readonly Pause[]): string {
  const memoryLines = memory
    ? [
        `${formatCount(memory.bytesPerCounter)} bytes per counter in the memory store with ` +
          `${formatCount(memory.counters)} counters ` +
          `(${formatCount(memory.residentBytesPerCounter)} of resident memory)`,
      ]
    : []
  const pauseTable = formatTable(
    [right('longest pause ms'), right('CPU in a turn ms'), right('longest GC ms'), left('while')],
    pauses.map(({ label, longestMs, longestCpuMs, longestGcMs }) => [
      longestMs.toFixed(1),
      longestCpuMs.toFixed(1),
      longestGcMs.toFixed(1),
      label,
    ]),
  )
  const pauseLines = pauses.length > 0 ? [pauseTable] : []
  return [paint('bold', 'Portcullis alone'), ...memoryLines, ...pauseLines].join('\n')
}

/** The shapes in the chart. */
const drawn = ['8x64', '1x100', '5000/s']

export function drawResults(
  scores: readonly Score[],
  groups: readonly Group[],
  note: string,
): string {
  const panels = groups.flatMap(({ shapes }) =>
    shapes
      .filter(({ name }) => drawn.includes(name))
      .map(({ name, title }) => ({
        title,
        bars: scores
          .filter(({ shape }) => shape === name)
          .map(({ label, isOurs, perCpuSecond }) => ({
            label,
            value: perCpuSecond,
            kind: isOurs ? ('ours' as const) : ('peer' as const),
          })),
      })),
  )
  return drawBarChart('Rate limit decisions per second of CPU time', note, panels)
}
