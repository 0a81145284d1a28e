import { startChild } from '@portcullis/bench-kit/child'
import { createCommand } from '@portcullis/bench-kit/command'
import { parseCount, parseOptions, parseSelection } from '@portcullis/bench-kit/options'
import { toRoundOrder } from '@portcullis/bench-kit/rounds'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import { formatCount, formatRatio, formatTable, left, right } from '@portcullis/bench-kit/table'
import {
  type Algorithm,
  algorithms,
  implementations,
  type TokenJob,
  type TokenOutcome,
} from './token-process.ts'

const help = `Usage: npm run bench -- auth-tokens [OPTION…]

Compares how fast this server and jose sign and verify access tokens, in
operations per CPU second. Each has its own process, and they take turns; the
ratio is the median of the ratios of the rounds.

Options:
  --only NAMES  comma-separated list of HS256, RS256, ES256, EdDSA
  --rounds N    rounds of measurement; default: 9
  --calls N     HS256 operations in a round, and fewer with other algorithms;
                default: 50000
  --help        show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  only: { type: 'string' },
  rounds: { type: 'string', default: '9' },
  calls: { type: 'string', default: '50000' },
} as const

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    only: parseSelection(values.only, algorithms),
    rounds: parseCount('rounds', values.rounds),
    calls: parseCount('calls', values.calls),
  }
}

export const run = createCommand({ name: 'auth-tokens', help, parse: parseSettings, run: measure })

const operations = ['sign', 'verify'] as const

async function measure({ only, rounds, calls }: ReturnType<typeof parseSettings>): Promise<number> {
  const rows: string[][] = []
  for (const algorithm of algorithms) {
    if (!only.includes(algorithm)) continue
    for (const operation of operations) {
      const count = countFor(algorithm, operation, calls)
      rows.push(...(await compare({ algorithm, operation, calls: count }, rounds)))
    }
  }
  const columns = [
    left('algorithm'),
    left('operation'),
    left('by'),
    right('per CPU-second'),
    right('µs'),
    right('ours is better by'),
  ]
  console.log(formatTable(columns, rows))
  return 0
}

/** An RSA signature takes a hundred times as long as the others. */
function countFor(algorithm: Algorithm, operation: TokenJob['operation'], calls: number): number {
  if (algorithm === 'HS256') return calls
  return Math.ceil(calls / (algorithm === 'RS256' && operation === 'sign' ? 50 : 5))
}

async function compare(job: Omit<TokenJob, 'implementation'>, rounds: number): Promise<string[][]> {
  using children = new DisposableStack()
  const processes = implementations.map((implementation) => ({
    implementation,
    child: children.use(startChild(new URL('./token-process.ts', import.meta.url))),
    seconds: [] as number[],
  }))
  for (let round = 0; round < rounds; round++) {
    for (const { implementation, child, seconds } of toRoundOrder(processes, round)) {
      const outcome = await child.request<TokenOutcome>({ ...job, implementation })
      seconds.push(outcome.cpuSeconds)
    }
  }
  const ours = processes[0]?.seconds ?? []
  return processes.map(({ implementation, seconds }) => [
    job.algorithm,
    job.operation,
    implementation,
    formatCount(job.calls / median(seconds)),
    ((median(seconds) / job.calls) * 1e6).toFixed(1),
    formatRatio(medianRatio(seconds, ours)),
  ])
}
