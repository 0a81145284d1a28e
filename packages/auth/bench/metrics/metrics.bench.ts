import { startChild } from '@portcullis/bench-kit/child'
import { createCommand } from '@portcullis/bench-kit/command'
import { parseCount, parseOptions } from '@portcullis/bench-kit/options'
import { toRoundOrder } from '@portcullis/bench-kit/rounds'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import { formatRatio, formatTable, left, right } from '@portcullis/bench-kit/table'
import {
  type CounterJob,
  type CounterOutcome,
  type Implementation,
  implementations,
} from './counter-process.ts'

const help = `Usage: npm run bench -- metrics [OPTION…]

Measures the CPU time, in nanoseconds, of adding 1 to a counter of service-kit
and to one of OpenTelemetry. Each has its own process, and they take turns; the
ratio is the median of the ratios of the rounds.

Options:
  --rounds N   rounds of measurement; default: 9
  --adds N     additions to a counter of OpenTelemetry in a round, and fifty
               times as many to one of service-kit; default: 500000
  --help       show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  rounds: { type: 'string', default: '9' },
  adds: { type: 'string', default: '500000' },
} as const

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    rounds: parseCount('rounds', values.rounds),
    adds: parseCount('adds', values.adds),
  }
}

/** Resolves to the exit code. */
export const run = createCommand({ name: 'metrics', help, parse: parseSettings, run: measure })

async function measure({ rounds, adds }: ReturnType<typeof parseSettings>): Promise<number> {
  const rows: string[][] = []
  for (const series of [1, 1_000]) rows.push(...(await compare(series, adds, rounds)))
  const columns = [
    right('series'),
    left('counter'),
    right('ns per add'),
    right('times that of service-kit'),
  ]
  console.log(formatTable(columns, rows))
  return 0
}

async function compare(series: number, adds: number, rounds: number): Promise<string[][]> {
  using children = new DisposableStack()
  const processes = implementations.filter(isMeasuredWith(series)).map((implementation) => ({
    implementation,
    adds: implementation === 'service-kit' ? 50 * adds : adds,
    child: children.use(startChild(new URL('./counter-process.ts', import.meta.url))),
    nanoseconds: [] as number[],
  }))
  for (let round = 0; round < rounds; round++) {
    for (const { implementation, child, adds: count, nanoseconds } of toRoundOrder(
      processes,
      round,
    )) {
      const job: CounterJob = { implementation, series, adds: count }
      const { cpuSeconds } = await child.request<CounterOutcome>(job)
      nanoseconds.push((cpuSeconds / count) * 1e9)
    }
  }
  const ours = processes[0]?.nanoseconds ?? []
  return processes.map(({ implementation, nanoseconds }) => [
    `${series}`,
    implementation,
    median(nanoseconds).toFixed(1),
    formatRatio(medianRatio(nanoseconds, ours)),
  ])
}

/** Without attributes there is only one series. */
function isMeasuredWith(series: number): (implementation: Implementation) => boolean {
  return (implementation) => series === 1 || implementation !== 'OpenTelemetry without attributes'
}
