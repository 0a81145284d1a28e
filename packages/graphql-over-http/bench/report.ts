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
import { contenders } from './contenders.ts'
import { type QueryName, queries } from './queries.ts'
import type { ContenderResult, HandlerResult, Score } from './results.ts'

const columns: readonly Column[] = [
  left(''),
  right('req/CPU-s'),
  right('at best'),
  right('req/s'),
  right('p99 ms'),
  right('× graphql-http'),
  right('of the limit'),
]

const styles = { ours: 'bold', peer: 'reset', yardstick: 'yellow' } as const

/** The contenders with a score for a query, best first. */
function rank(results: readonly ContenderResult[], query: QueryName) {
  return results
    .flatMap(({ name, label, version, scores }) => {
      const score: Score | undefined = scores[query]
      const { kind } = contenders[name]
      return score ? [{ kind, label: version ? `${label} ${version}` : label, score }] : []
    })
    .toSorted((a, b) => b.score.perCpuSecond - a.score.perCpuSecond)
}

export function formatQueryTable(results: readonly ContenderResult[], query: QueryName): string {
  const rows = rank(results, query).map(({ kind, label, score }) => [
    { text: label, style: styles[kind] },
    { text: formatCount(score.perCpuSecond), style: styles[kind] },
    formatCount(score.best),
    formatCount(score.perSecond),
    score.p99Ms.toFixed(2),
    score.timesGraphqlHttp === null ? '' : formatRatio(score.timesGraphqlHttp),
    score.timesLimit === null ? '' : formatRatio(score.timesLimit),
  ])
  return `${paint('bold', toTitle(query))}\n${formatTable(columns, rows)}`
}

export function formatHandlerTable(
  results: readonly HandlerResult[],
  names: readonly QueryName[],
): string {
  const rows = names.flatMap((query) =>
    results.flatMap(({ name, label, scores }) => {
      const score = scores[query]
      if (!score) return []
      const style = name === 'portcullis' ? styles.ours : styles.peer
      return [
        [
          { text: `${query}: ${label}`, style },
          { text: formatCount(score.perCpuSecond), style },
          formatCount(score.best),
          formatRatio(score.timesGraphqlHttp),
        ],
      ]
    }),
  )
  const handlerColumns = columns.filter(({ title }) => !/req\/s|p99|limit/.test(title))
  return `${paint('bold', 'Handlers alone, called in process')}\n${formatTable(handlerColumns, rows)}`
}

export function drawResults(
  results: readonly ContenderResult[],
  names: readonly QueryName[],
  note: string,
): string {
  const panels = names.map((query) => ({
    title: toTitle(query),
    bars: rank(results, query).map(({ kind, label, score }) => ({
      kind,
      label,
      value: score.perCpuSecond,
    })),
  }))
  return drawBarChart('GraphQL requests per second of CPU time', note, panels)
}

function toTitle(query: QueryName): string {
  return `${query}: ${queries[query].title}`
}
