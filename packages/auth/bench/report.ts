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
import type { StatementCount } from './statements.ts'

const columns: readonly Column[] = [
  left(''),
  left(''),
  right('requests/s'),
  right('× peer'),
  right('/CPU-s'),
  right('p50 ms'),
  right('p99 ms'),
  right('PostgreSQL µs'),
  right('cores'),
  right('load'),
]

const formatRate = (value: number) => (value < 100 ? value.toFixed(1) : formatCount(value))

export function formatScores(scores: readonly Score[]): string {
  let before = ''
  const rows = scores.map((score) => {
    const title = score.title === before ? '' : score.title
    before = score.title
    return [
      title,
      { text: score.label, style: score.isOurs ? ('bold' as const) : ('reset' as const) },
      formatRate(score.perSecond),
      score.timesPeer === null ? '' : formatRatio(score.timesPeer),
      formatRate(score.perCpuSecond),
      score.p50Ms.toFixed(2),
      score.p99Ms.toFixed(2),
      formatCount(score.databaseMicroseconds),
      score.serverCores.toFixed(2),
      score.loadCores.toFixed(2),
    ]
  })
  return [formatTable(columns, rows), ...toFailures(scores)].join('\n')
}

function toFailures(scores: readonly Score[]): readonly string[] {
  return scores
    .filter(({ errors }) => errors > 0)
    .map(({ title, label, errors, firstError }) =>
      paint('red', `${title}, ${label}: ${formatCount(errors)} failed, the first: ${firstError}`),
    )
}

export function formatStatements(counts: readonly StatementCount[]): string {
  const rows = counts.map(({ title, label, perRequest }) => [title, label, perRequest.toFixed(1)])
  return [
    paint('bold', 'Statements per request'),
    formatTable([left(''), left(''), right('statements')], rows),
  ].join('\n')
}

export function drawScores(scores: readonly Score[], note: string): string {
  const titles = [...new Set(scores.map(({ title }) => title))]
  const panels = titles.map((title) => ({
    title,
    bars: scores
      .filter((score) => score.title === title)
      .map(({ label, isOurs, perSecond }) => ({
        label,
        value: perSecond,
        kind: isOurs ? ('ours' as const) : ('peer' as const),
      })),
  }))
  return drawBarChart('Requests per second', note, panels)
}
