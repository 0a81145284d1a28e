import { resolve } from 'node:path'
import { createCommand } from '@portcullis/bench-kit/command'
import { formatGoals, toExitCode } from '@portcullis/bench-kit/goals'
import { createProgress } from '@portcullis/bench-kit/progress'
import { describeMachine } from '@portcullis/bench-kit/results'
import { endOnSignals } from '@portcullis/bench-kit/server-process'
import { checkGoals, type Measured } from './goals.ts'
import { startLoad } from './load/start-load.ts'
import { measure } from './measure.ts'
import { drawResults, formatShapeTable, formatSolo } from './report.ts'
import { toScores, writeResult } from './results.ts'
import { writeRules } from './rule-files.ts'
import { defaultRuleCount, groups } from './scenarios.ts'
import { openCollector } from './servers/collector.ts'
import { createContestants, withContendersFor } from './servers/contestants.ts'
import { createStores } from './servers/stores.ts'
import { help, parseSettings, type Settings } from './settings.ts'
import { measureMemory, measurePauses } from './solo.ts'

/** Runs the benchmark of the rate limit service; resolves to the exit code. */
export const run = createCommand({
  name: 'ratelimit',
  help,
  parse: parseSettings,
  run: (settings) =>
    settings.writeRulesTo === undefined ? compare(settings) : writeRulesFor(settings.writeRulesTo),
})

async function writeRulesFor(folder: string): Promise<number> {
  const { root, subdirectory, appDirectory } = await writeRules(resolve(folder), defaultRuleCount)
  console.log(`Start the peer with these variables, and REDIS_URL of the Redis given by --redis:
  RUNTIME_ROOT=${root} RUNTIME_SUBDIRECTORY=${subdirectory} RUNTIME_APPDIRECTORY=${appDirectory}
  RUNTIME_WATCH_ROOT=false USE_STATSD=false USE_PROMETHEUS=true LOG_LEVEL=warn
  REDIS_SOCKET_TYPE=tcp REDIS_TYPE=single`)
  return 0
}

async function compare(settings: Settings): Promise<number> {
  const { plan, peer } = settings
  endOnSignals()
  const machine = describeMachine()
  const note =
    `Node ${machine.node.slice(1)}, ${machine.cores} × ${machine.cpu}, ${machine.date}; ` +
    'server, Redis and load on the same machine'
  console.log(
    `${note}\nMedians of ${plan.rounds} rounds of ${plan.seconds} s with ${plan.starts} starts`,
  )
  if (peer.kind === 'none') console.log('Without a peer: --peer-program or --peer gives one.')

  const measured = await measureAll(settings)
  const scores = toScores(measured.series)
  const goals = checkGoals(measured)
  for (const group of groups) {
    for (const shape of group.shapes) {
      const rows = scores.filter((score) => score.shape === shape.name)
      if (rows.length > 0) console.log(`\n${formatShapeTable(rows, group, shape)}`)
    }
  }
  if (settings.solo.length > 0) console.log(`\n${formatSolo(measured.memory, measured.pauses)}`)
  if (goals.length > 0) console.log(`\n${formatGoals(goals)}`)

  if (settings.isComplete) {
    const content = {
      unit: 'calls per CPU-second of the server process, median over rounds',
      machine,
      settings: plan,
      scores,
      memory: measured.memory,
      pauses: measured.pauses,
      goals,
    }
    const files = [
      await writeResult('ratelimit.json', content),
      await writeResult('ratelimit.svg', drawResults(scores, groups, note)),
    ]
    console.log(`\nWritten: ${files.join(', ')}`)
  } else {
    console.log('\nNot everything was measured with a peer, so no results were written.')
  }
  return toExitCode(goals, settings.isStrict)
}

const oneMillion = 1_000_000
const hundredThousand = 100_000

async function measureAll(settings: Settings) {
  const { groups: names, solo, plan, peer, redis, workers, tracingRate, isComplete } = settings
  const progress = createProgress()
  using load = startLoad()
  await using stores = createStores(redis)
  try {
    const wanted = groups
      .filter(({ name }) => names.includes(name))
      .map((group) => withContendersFor(peer, group))
    await using collector = await openCollector()
    const env = tracingRate > 0 ? collector.toEnvironment(tracingRate) : {}
    const contestants = createContestants(peer, stores, { workers, env })
    const series = await measure(wanted, plan, load, contestants, progress.show)
    if (solo.includes('memory')) progress.note(`memory of ${oneMillion} counters`)
    const memory = solo.includes('memory') ? await measureMemory(oneMillion, load) : undefined
    const pausePlan = { rules: hundredThousand, counters: oneMillion, tries: isComplete ? 3 : 1 }
    const pauses = solo.includes('pauses')
      ? await measurePauses(pausePlan, load, progress.note)
      : []
    return { series, memory, pauses } satisfies Measured
  } finally {
    progress.end()
  }
}
