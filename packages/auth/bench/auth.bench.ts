import { setTimeout as wait } from 'node:timers/promises'
import { startChild } from '@portcullis/bench-kit/child'
import { createCommand } from '@portcullis/bench-kit/command'
import { formatGoals, toExitCode } from '@portcullis/bench-kit/goals'
import { listProcesses, readResidentMegabytes } from '@portcullis/bench-kit/process-usage'
import { createProgress } from '@portcullis/bench-kit/progress'
import { describeMachine } from '@portcullis/bench-kit/results'
import { endOnSignals } from '@portcullis/bench-kit/server-process'
import { type Case, cases } from './cases.ts'
import { checkGoals } from './goals.ts'
import {
  type BcryptSample,
  measureCase,
  type PreparedServer,
  type Series,
  secondsOfCase,
  selectServers,
  type Tools,
} from './measure.ts'
import { drawScores, formatScores, formatStatements } from './report.ts'
import { toScores, writeResult } from './results.ts'
import { type Contestant, openContestants, signUpMembers } from './servers/contestants.ts'
import { type DatabaseServer, openDatabaseServer } from './servers/database-server.ts'
import { toEnvironment } from './servers/environment.ts'
import { growUsers } from './servers/grow-users.ts'
import { help, parseSettings, type Settings } from './settings.ts'
import { measureStatements } from './statements.ts'

/** Runs the benchmark of the authentication server; resolves to the exit code. */
export const run = createCommand({
  name: 'auth',
  help,
  parse: parseSettings,
  run: async (settings) =>
    settings.isEnvironmentWanted ? printEnvironment() : await compare(settings),
})

function printEnvironment(): number {
  const variables = toEnvironment({ databaseUrl: 'postgres://…', port: 9999 })
  for (const [name, value] of Object.entries(variables)) console.log(`${name}='${value}'`)
  return 0
}

async function compare(settings: Settings): Promise<number> {
  const { plan, peer } = settings
  endOnSignals()
  await using databases = await openDatabaseServer(
    settings.postgres,
    peer.kind === 'running' ? peer.databaseUrl : undefined,
  )
  const machine = { ...describeMachine(), postgres: databases.version }
  const note =
    `Node ${machine.node.slice(1)}, PostgreSQL ${machine.postgres}, ` +
    `${machine.cores} × ${machine.cpu}, ${machine.date}; server, PostgreSQL and load on one machine`
  console.log(`${note}\nMedians of ${plan.rounds} rounds of ${plan.seconds} s`)
  if (settings.workerCores !== undefined)
    console.log(`Each worker may use ${settings.workerCores} of a core.`)
  if (peer.kind === 'none')
    console.log('No peer is measured; use --peer-program or --peer to add one.')

  const { statements, idleMegabytes, ...measured } = await measureAll(settings, databases)
  const scores = toScores(measured.series)
  const ours = idleMegabytes.find(({ name }) => name === 'ours')
  const goals = checkGoals({
    ...measured,
    idleMegabytes: ours?.megabytes ?? Number.NaN,
    workers: settings.workers,
    workerCores: settings.workerCores,
    cores: machine.cores,
  })
  if (scores.length > 0) console.log(`\n${formatScores(scores)}`)
  if (statements.length > 0) console.log(`\n${formatStatements(statements)}`)
  console.log(`\n${formatGoals(goals)}`)

  if (settings.isComplete) {
    const content = {
      unit: 'requests per second, median over rounds',
      machine,
      settings: plan,
      scores,
      bcrypt: measured.bcrypt,
      statements,
      idleMegabytes,
      goals,
    }
    const files = [
      await writeResult('auth.json', content),
      await writeResult('auth.svg', drawScores(scores, note)),
    ]
    console.log(`\nWritten: ${files.join(', ')}`)
  } else {
    console.log('\nThe run was not complete, so no results were written.')
  }
  return toExitCode(goals, settings.isStrict)
}

/**
 * There are at least as many members as connections, so that each connection has its own session.
 */
const memberCount = Math.max(...cases.map(({ connections }) => connections)) + 1

async function measureAll(settings: Settings, databases: DatabaseServer) {
  const { plan } = settings
  const wanted = cases.filter(
    ({ family, users }) => settings.families.includes(family) && users <= settings.mostUsers,
  )
  const progress = createProgress()
  await using stack = new AsyncDisposableStack()
  try {
    const contestants = await openContestants(settings, databases)
    for (const one of contestants) stack.use(one)
    progress.note('memory of idle servers')
    const idleMegabytes = await readIdleMemory(contestants)
    const preparedServers: PreparedServer[] = []
    for (const contestant of contestants) preparedServers.push(await prepareServer(contestant))

    const total = wanted.reduce((sum, one) => sum + secondsOfCase(one, preparedServers, plan), 0)
    let done = 0
    const tools: Tools = {
      load: stack.use(startChild(new URL('./load/load.ts', import.meta.url))),
      bcrypt: stack.use(startChild(new URL('./load/bcrypt.ts', import.meta.url))),
      announce(seconds, what) {
        progress.show(Math.min(done, total), Math.max(total, 1), what)
        done += seconds
      },
    }
    const noting: Tools = { ...tools, announce: (_, what) => progress.note(`statements: ${what}`) }
    const statements = settings.countsStatements
      ? await measureStatements(preparedServers, noting)
      : []
    const series: Series[] = []
    const bcrypt: BcryptSample[] = []
    for (const one of wanted) {
      await grow(selectServers(one, preparedServers), one, progress.note)
      const result = await measureCase(one, preparedServers, plan, tools)
      series.push(...result.series)
      bcrypt.push(...result.bcrypt)
    }
    return { series, bcrypt, statements, idleMegabytes }
  } finally {
    progress.end()
  }
}

async function prepareServer(contestant: Contestant): Promise<PreparedServer> {
  const members = await signUpMembers(contestant.target, memberCount)
  const [stormToken = '', ...refreshTokens] = members.map(({ refreshToken }) => refreshToken)
  return { contestant, members, users: 0, refreshTokens, stormTokens: [stormToken] }
}

async function grow(
  preparedServers: readonly PreparedServer[],
  { users }: Case,
  note: (what: string) => void,
): Promise<void> {
  for (const prepared of preparedServers) {
    if (prepared.users >= users) continue
    const { databaseUrl, label } = prepared.contestant
    note(`${users.toLocaleString('en-US')} users for ${label}`)
    await growUsers(databaseUrl, prepared.users, users)
    prepared.users = users
  }
}

/** A server that has just started still does background work. */
const settleMs = 2_000

async function readIdleMemory(contestants: readonly Contestant[]) {
  await wait(settleMs)
  return Promise.all(
    contestants.map(async ({ name, label, pid }) => ({
      name,
      label,
      megabytes: Math.round(await readTotalMegabytes(pid)),
    })),
  )
}

async function readTotalMegabytes(pid: number): Promise<number> {
  const each = await Promise.all((await listProcesses(pid)).map(readResidentMegabytes))
  return each.reduce((sum, megabytes) => sum + megabytes, 0)
}
