import { type Case, cases } from './cases.ts'
import { type Entrant, runSlice, type Tools } from './measure.ts'
import { countStatements } from './servers/count-statements.ts'

export interface StatementCount {
  readonly case: string
  readonly title: string
  readonly label: string
  readonly perRequest: number
}

const counted = ['user', 'refresh', 'login', 'signup']
const seconds = 0.5

/** How many statements each kind of request takes, as PostgreSQL itself counts them. */
export async function measureStatements(
  entrants: readonly Entrant[],
  tools: Tools,
): Promise<readonly StatementCount[]> {
  const counts: StatementCount[] = []
  for (const one of cases.filter(({ name }) => counted.includes(name))) {
    for (const entrant of entrants) counts.push(await count(one, entrant, tools))
  }
  return counts
}

async function count(one: Case, entrant: Entrant, tools: Tools): Promise<StatementCount> {
  const { databaseUrl, label } = entrant.contestant
  // Without the requests of a probe; what a fresh connection asks for is part of the first ones.
  const { probesPerSecond: _, ...quiet } = one
  await runSlice(entrant, quiet, seconds, tools)
  let requests = 0
  const statements = await countStatements(databaseUrl, async () => {
    const { calls } = await runSlice(entrant, quiet, seconds, tools)
    requests = calls
  })
  return { case: one.name, title: one.title, label, perRequest: statements / requests }
}
