import { type Case, cases } from './cases.ts'
import { type PreparedServer, runSlice, type Tools } from './measure.ts'
import { countStatements } from './servers/count-statements.ts'

export interface StatementCount {
  readonly case: string
  readonly title: string
  readonly label: string
  readonly perRequest: number
}

const counted = ['user', 'refresh', 'login', 'signup']
const seconds = 0.5

/** Counts the statements that PostgreSQL receives for each kind of request. */
export async function measureStatements(
  preparedServers: readonly PreparedServer[],
  tools: Tools,
): Promise<readonly StatementCount[]> {
  const counts: StatementCount[] = []
  for (const one of cases.filter(({ name }) => counted.includes(name))) {
    for (const prepared of preparedServers) {
      // Several workers send the same statements as one.
      if (prepared.contestant.name === 'workers') continue
      counts.push(await count(one, prepared, tools))
    }
  }
  return counts
}

async function count(one: Case, prepared: PreparedServer, tools: Tools): Promise<StatementCount> {
  const { databaseUrl, label } = prepared.contestant
  // Probes are excluded; the statements of a new connection count for the first requests.
  const { probesPerSecond: _, ...quiet } = one
  await runSlice(prepared, quiet, seconds, tools)
  let requests = 0
  const statements = await countStatements(databaseUrl, async () => {
    const { calls } = await runSlice(prepared, quiet, seconds, tools)
    requests = calls
  })
  return { case: one.name, title: one.title, label, perRequest: statements / requests }
}
