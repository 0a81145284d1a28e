import { setTimeout as wait } from 'node:timers/promises'
import { createProgress } from '@portcullis/bench-kit/progress'
import { describeMachine } from '@portcullis/bench-kit/results'
import { checkAims } from './aims.ts'
import { type Case, cases } from './cases.ts'
import { startChild } from './child.ts'
import { type Entrant, measureCase, type Series, secondsOfCase, type Tools } from './measure.ts'
import { drawScores, formatAims, formatScores, formatStatements } from './report.ts'
import { toScores, writeResult } from './results.ts'
import { type Contestant, openContestants, signUpMembers } from './servers/contestants.ts'
import { readResidentMegabytes } from './servers/cpu-time.ts'
import { type DatabaseServer, openDatabaseServer } from './servers/database-server.ts'
import { toEnvironment } from './servers/environment.ts'
import { growUsers } from './servers/grow-users.ts'
import { help, parseSettings, type Settings, UsageError } from './settings.ts'
import { measureStatements } from './statements.ts'

/** Runs the benchmark of the authentication server; resolves to the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  let settings: Settings
  try {
    settings = parseSettings(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message}\nnpm run bench -- auth --help shows the options.`)
    return 2
  }
  if (settings.isHelpWanted) console.log(help)
  else if (settings.isEnvironmentWanted) printEnvironment()
  else return await compare(settings)
  return 0
}

function printEnvironment(): void {
  const variables = toEnvironment({ databaseUrl: 'postgres://…', port: 9999 })
  for (const [name, value] of Object.entries(variables)) console.log(`${name}='${value}'`)
}

async function compare(settings: Settings): Promise<number> {
  const { plan, peer } = settings
  // The servers end with this process, which needs it to end and not just to be gone.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  await using databases = await openDatabaseServer(
    settings.postgres,
    peer.kind === 'running' ? peer.databaseUrl : undefined,
  )
  const machine = { ...describeMachine(), postgres: databases.version }
  const note =
    `Node ${machine.node.slice(1)}, PostgreSQL ${machine.postgres}, ` +
    `${machine.cores} × ${machine.cpu}, ${machine.date}; server, PostgreSQL and load on one machine`
  console.log(`${note}\nMedians of ${plan.rounds} rounds of ${plan.seconds} s`)
  if (peer.kind === 'none') console.log('Without a peer: --peer-program or --peer gives one.')

  const { statements, idleMegabytes, ...measured } = await measureAll(settings, databases)
  const scores = toScores(measured.series)
  const ours = idleMegabytes.find(({ name }) => name === 'ours')
  const aims = checkAims({ ...measured, idleMegabytes: ours?.megabytes ?? Number.NaN })
  if (scores.length > 0) console.log(`\n${formatScores(scores)}`)
  if (statements.length > 0) console.log(`\n${formatStatements(statements)}`)
  console.log(`\n${formatAims(aims)}`)

  if (settings.isComplete) {
    const content = {
      unit: 'requests per second, median over rounds',
      machine,
      settings: plan,
      scores,
      bcryptPerSecond: measured.bcryptPerSecond,
      statements,
      idleMegabytes,
      aims,
    }
    const files = [
      await writeResult('auth.json', `${JSON.stringify(content, null, 2)}\n`),
      await writeResult('auth.svg', drawScores(scores, note)),
    ]
    console.log(`\nWritten: ${files.join(', ')}`)
  } else {
    console.log('\nNot everything was measured, so no results were written.')
  }
  return settings.isStrict && aims.some(({ isReached }) => isReached === false) ? 1 : 0
}

/** As many as there are connections in any case, so that each has a session of its own. */
const memberCount = Math.max(...cases.map(({ connections }) => connections)) + 1

async function measureAll(settings: Settings, databases: DatabaseServer) {
  const { plan } = settings
  const wanted = cases.filter(
    ({ family, users }) => settings.families.includes(family) && users <= settings.mostUsers,
  )
  const progress = createProgress()
  await using stack = new AsyncDisposableStack()
  try {
    const contestants = await openContestants(settings.peer, databases)
    for (const one of contestants) stack.use(one)
    progress.note('memory of idle servers')
    const idleMegabytes = await readIdleMemory(contestants)
    const entrants: Entrant[] = []
    for (const contestant of contestants) entrants.push(await toEntrant(contestant))

    const total = wanted.reduce((sum, one) => sum + secondsOfCase(one, entrants.length, plan), 0)
    let done = 0
    const tools: Tools = {
      load: stack.use(startChild('load/load.ts')),
      bcrypt: stack.use(startChild('load/bcrypt.ts')),
      announce(seconds, what) {
        progress.show(Math.min(done, total), Math.max(total, 1), what)
        done += seconds
      },
    }
    const noting: Tools = { ...tools, announce: (_, what) => progress.note(`statements: ${what}`) }
    const statements = settings.countsStatements ? await measureStatements(entrants, noting) : []
    const series: Series[] = []
    const bcryptPerSecond: number[] = []
    let users = 0
    for (const one of wanted) {
      if (one.users > users) await grow(entrants, users, one, progress.note)
      users = one.users
      const result = await measureCase(one, entrants, plan, tools)
      series.push(...result.series)
      bcryptPerSecond.push(...result.bcryptPerSecond)
    }
    return { series, bcryptPerSecond, statements, idleMegabytes }
  } finally {
    progress.end()
  }
}

async function toEntrant(contestant: Contestant): Promise<Entrant> {
  const members = await signUpMembers(contestant.target, memberCount)
  const [stormToken = '', ...refreshTokens] = members.map(({ refreshToken }) => refreshToken)
  return { contestant, members, refreshTokens, stormTokens: [stormToken] }
}

async function grow(
  entrants: readonly Entrant[],
  from: number,
  { users }: Case,
  note: (what: string) => void,
): Promise<void> {
  for (const { contestant } of entrants) {
    note(`${users.toLocaleString('en-US')} users for ${contestant.label}`)
    await growUsers(contestant.databaseUrl, from, users)
  }
}

/** A server that has just started still tidies up. */
const settleMs = 2_000

async function readIdleMemory(contestants: readonly Contestant[]) {
  await wait(settleMs)
  return Promise.all(
    contestants.map(async ({ name, label, pid }) => ({
      name,
      label,
      megabytes: Math.round(await readResidentMegabytes(pid)),
    })),
  )
}
