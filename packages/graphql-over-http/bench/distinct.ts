import { createProgress } from '@portcullis/bench-kit/progress'
import {
  type Column,
  formatCount,
  formatTable,
  left,
  paint,
  right,
} from '@portcullis/bench-kit/table'
import type { HandleJob, HandleOutcome } from './handle.ts'
import { type HandlerName, handlerNames, handlers, startHandler } from './handler-process.ts'
import { install } from './installs.ts'
import type { GraphqlMajor } from './one-graphql.ts'
import { describeSetting, writeResult } from './results.ts'

const leastRequests = 100_000

interface Row {
  readonly handler: HandlerName
  readonly documents: number
  readonly requests: number
  readonly perCpuSecond: number
  /** The heap after a full garbage collection. */
  readonly heapMegabytes: number
  readonly rssMegabytes: number
}

const columns: readonly Column[] = [
  right('distinct documents'),
  left('handler'),
  right('requests'),
  right('req/CPU-s'),
  right('heap MB'),
  right('rss MB'),
]

/**
 * Measures the cost of many distinct documents: each handler, in a fresh process, receives all
 * documents repeatedly. Memory is read at the end, after a full garbage collection.
 */
export async function runDistinct(
  counts: readonly number[],
  graphql: GraphqlMajor,
): Promise<number> {
  await install(new Set(['peers']))
  const machine = describeSetting(graphql)
  console.log(
    `Node ${machine.node.slice(1)}, graphql ${machine.graphql}, ${machine.cores} × ${machine.cpu}, ` +
      `${machine.date}\nHandlers alone, called in process with { a0: hello }, { a1: hello }, …`,
  )
  const progress = createProgress()
  const runs = counts.flatMap((documents) => handlerNames.map((name) => ({ name, documents })))
  const rows: Row[] = []
  for (const { name, documents } of runs) {
    progress.show(rows.length, runs.length, `${formatCount(documents)} documents: ${name}`)
    rows.push(await measureDistinct(name, documents, graphql))
  }
  progress.end()

  const cells = rows.map((row) => [
    formatCount(row.documents),
    {
      text: handlers[row.handler].label,
      style: row.handler === 'portcullis' ? 'bold' : 'reset',
    } as const,
    formatCount(row.requests),
    formatCount(row.perCpuSecond),
    row.heapMegabytes.toFixed(1),
    row.rssMegabytes.toFixed(0),
  ])
  console.log(`\n${paint('bold', 'Distinct documents')}\n${formatTable(columns, cells)}`)
  const content = { unit: 'requests per CPU-second, handler alone', machine, rows }
  const file = await writeResult('graphql-distinct.json', content)
  console.log(`\nWritten: ${file}`)
  return 0
}

async function measureDistinct(
  handler: HandlerName,
  documents: number,
  graphql: GraphqlMajor,
): Promise<Row> {
  using child = startHandler(handler, graphql)
  // The aliases of the warm-up documents are not used again.
  const warmup: HandleJob = {
    template: '{ w%: hello }',
    documents: 2000,
    requests: 5000,
    seconds: 0,
  }
  await child.request(warmup)
  const requests = Math.max(documents, leastRequests)
  const job: HandleJob = { template: '{ a%: hello }', documents, requests, seconds: 0 }
  const outcome = await child.request<HandleOutcome>(job)
  return {
    handler,
    documents,
    requests: outcome.requests,
    perCpuSecond: Math.round(outcome.requests / outcome.cpuSeconds),
    heapMegabytes: Number((outcome.heapBytes / 2 ** 20).toFixed(1)),
    rssMegabytes: Number((outcome.rssBytes / 2 ** 20).toFixed(1)),
  }
}
