import { startChild } from '@portcullis/bench-kit/child'
import { createCommand } from '@portcullis/bench-kit/command'
import { parseCount, parseOptions } from '@portcullis/bench-kit/options'
import { median } from '@portcullis/bench-kit/statistics'
import { formatTable, left, right } from '@portcullis/bench-kit/table'
import {
  type Contender,
  contenders,
  type LimiterJob,
  type LimiterOutcome,
} from './limiter-process.ts'

const help = `Usage: npm run bench -- limiter [OPTION…]

Compares the in-process limiter, with counters in memory, with
rate-limiter-flexible: CPU time of a decision and memory of a counter. Each
limiter has a separate process, and they take turns.

Options:
  --rounds N   number of measurements of each; default: 7
  --calls N    decisions in a round; default: 500000
  --help       show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  rounds: { type: 'string', default: '7' },
  calls: { type: 'string', default: '500000' },
} as const

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    rounds: parseCount('rounds', values.rounds),
    calls: parseCount('calls', values.calls),
  }
}

/** Resolves to the exit code: 1 if a goal was missed. */
export const run = createCommand({ name: 'limiter', help, parse: parseSettings, run: measure })

const peer: Contender = 'rate-limiter-flexible'
/** The maximum CPU time as a multiple of that of the peer. */
const mostShare = 1.2
const keyCounts = [1_000, 1_000_000] as const

async function measure({ rounds, calls }: ReturnType<typeof parseSettings>): Promise<number> {
  let isMissed = false
  for (const keys of keyCounts) {
    const costs = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]))
    const bytes = new Map<Contender, number>()
    const children = contenders.map((contender) => {
      const child = startChild(new URL('./limiter-process.ts', import.meta.url), {
        execArgv: ['--expose-gc'],
      })
      return { contender, child }
    })
    try {
      for (let round = 0; round < rounds; round += 1) {
        for (const { contender, child } of children) {
          const job: LimiterJob = { contender, keys, calls }
          const outcome = await child.request<LimiterOutcome>(job)
          costs.get(contender)?.push(outcome.nanosecondsPerCall)
          bytes.set(contender, outcome.bytesPerKey)
        }
      }
    } finally {
      for (const { child } of children) child[Symbol.dispose]()
    }
    const costOf = (contender: Contender) => median(costs.get(contender) ?? [])
    const rows = contenders.map((contender) => [
      contender,
      `${costOf(contender).toFixed(0)} ns`,
      (costOf(contender) / costOf(peer)).toFixed(2),
      `${(bytes.get(contender) ?? 0).toFixed(0)}`,
    ])
    console.log(`\n${keys.toLocaleString('en-US')} different values`)
    const columns = [left('limiter'), right('CPU'), right('× peer'), right('bytes per counter')]
    console.log(formatTable(columns, rows))
    isMissed ||= costOf('limitSync') > mostShare * costOf(peer)
  }
  console.log(`\nGoal: limitSync takes at most ${mostShare} times the CPU time of ${peer}.`)
  return isMissed ? 1 : 0
}
