import { createCommand } from '@portcullis/bench-kit/command'
import { formatGoals, toExitCode } from '@portcullis/bench-kit/goals'
import { createProgress } from '@portcullis/bench-kit/progress'
import { contenders } from './contenders.ts'
import { runDistinct } from './distinct.ts'
import { checkGoals } from './goals.ts'
import { type InstallLocation, install } from './installs.ts'
import { measure } from './measure.ts'
import { type HandlerSamples, measureHandlers } from './measure-handlers.ts'
import { drawResults, formatHandlerTable, formatQueryTable } from './report.ts'
import {
  describePlan,
  describeSetting,
  toContenderResults,
  toHandlerResults,
  writeResult,
} from './results.ts'
import { help, parseSettings, type Settings } from './settings.ts'

/** Runs the benchmark of the GraphQL library and resolves to the exit code. */
export const run = createCommand({
  name: 'graphql',
  help,
  parse: parseSettings,
  run: (settings) =>
    settings.distinct ? runDistinct(settings.distinct, settings.plan.graphql) : compare(settings),
})

async function compare({ plan, leftOut, isComplete, isStrict }: Settings): Promise<number> {
  const homes = plan.contenders.map((name): InstallLocation => contenders[name].home)
  await install(new Set<InstallLocation>(isComplete ? [...homes, 'peers'] : homes))

  const machine = describeSetting(plan.graphql)
  const note =
    `Node ${machine.node.slice(1)} (uWebSockets: Node 22), graphql ${machine.graphql} for all, ` +
    `${machine.cores} × ${machine.cpu}, ${machine.date}`
  console.log(
    `${note}\nMedians of ${plan.rounds} rounds of ${plan.seconds} s with ${plan.starts} starts, ` +
      `${plan.connections} connections`,
  )
  for (const name of leftOut) {
    console.log(`Left out: ${name}, which does not support graphql ${plan.graphql}`)
  }

  const progress = createProgress()
  const samples = await measure(plan, progress.show)
  const handlerSamples: HandlerSamples = isComplete
    ? await measureHandlers(plan, progress.show)
    : new Map()
  progress.end()

  const results = toContenderResults(samples, plan.queries)
  const handlerResults = toHandlerResults(handlerSamples, plan.queries)
  const goals = checkGoals(samples, handlerSamples)
  for (const query of plan.queries) console.log(`\n${formatQueryTable(results, query)}`)
  if (isComplete) console.log(`\n${formatHandlerTable(handlerResults, plan.queries)}`)
  if (goals.length > 0) console.log(`\n${formatGoals(goals)}`)

  if (isComplete) {
    const name = plan.graphql === 16 ? 'graphql' : `graphql-${plan.graphql}`
    const content = {
      unit: 'requests per CPU-second of the server process, median over rounds',
      machine,
      settings: describePlan(plan),
      contenders: results,
      handlers: handlerResults,
      goals,
    }
    const files = [
      await writeResult(`${name}.json`, content),
      await writeResult(`${name}.svg`, drawResults(results, plan.queries, note)),
    ]
    console.log(`\nWritten: ${files.join(', ')}`)
  } else {
    console.log('\nNot everything was measured, so no results were written.')
  }
  return toExitCode(goals, isStrict)
}
