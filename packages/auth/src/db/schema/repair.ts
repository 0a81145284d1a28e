import { type ApplySettings, applyConcurrently, inTransaction } from '../migrate/apply.ts'
import { quote } from '../quote.ts'
import { withSchema } from '../statement.ts'
import { type ExpectedThing, readExpected } from './expected.ts'
import { readThings } from './read-things.ts'

export interface Defects {
  /** Tables and columns that are not there, with all that was in them; and what we may not repair. */
  readonly lost: readonly string[]
  readonly repairable: readonly Defect[]
}

export interface Defect extends ExpectedThing {
  readonly isMissing: boolean
}

type Catalog = Pick<ApplySettings, 'client' | 'schema'>

/** What is missing or unusable of all that the migrations make. */
export async function findDefects({ client, schema }: Catalog): Promise<Defects> {
  const [expected, things] = [await readExpected(), await readThings(client, schema)]
  const found = new Map(things.map((thing) => [`${thing.kind} ${thing.name}`, thing]))
  const lost: string[] = []
  const repairable: Defect[] = []
  for (const thing of expected) {
    const { kind, name, definition } = thing
    const actual = found.get(`${kind} ${name}`)
    if (kind === 'table') lost.push(...findLost(name, definition, actual?.definition))
    else if (!actual?.isSound) repairable.push({ ...thing, isMissing: actual === undefined })
  }
  if (repairable.length === 0 || (await isOwner({ client, schema }))) return { lost, repairable }
  // A role that only serves cannot repair. It can do without the index of texts, and not without others.
  const required = repairable.filter(({ definition }) => !definition.includes('{trgm}'))
  return {
    lost: [...lost, ...required.map(({ kind, name }) => `the ${kind} ${name}`)],
    repairable: [],
  }
}

async function isOwner({ client, schema }: Catalog): Promise<boolean> {
  const { rows } = await client.query<{ isOwner: boolean }>(
    `select pg_has_role(c.relowner, 'USAGE') as "isOwner" from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = 'schema_migrations'`,
    [schema],
  )
  return rows[0]?.isOwner ?? false
}

/** Columns are compared by name and type; there may be more, and in another order. */
function findLost(table: string, expected: string, actual: string | undefined): readonly string[] {
  if (actual === undefined) return [`the table ${table}`]
  const columns = new Set(actual.split(', '))
  return expected
    .split(', ')
    .filter((column) => !columns.has(column))
    .map((column) => `the column ${table}.${column.split(' ')[0]}`)
}

/** @throws {Error} where tables or columns are gone. */
export function refuseLost({ lost }: Defects, schema: string): void {
  if (lost.length === 0) return
  throw new Error(
    `The schema "${schema}" lacks what migrations that were applied have made: ${lost.join(', ')}. ` +
      'Run auth migrate as the owner of the tables; lost tables and columns come from a backup.',
  )
}

export interface RepairSettings extends ApplySettings {
  readonly onRepaired: (thing: string) => void
}

/** Makes what is missing, as migrations do: indexes while others write, all else in transactions. */
export async function repair({ repairable }: Defects, settings: RepairSettings): Promise<void> {
  for (const defect of repairable) {
    const text = `${defect.kind} ${defect.name}`
    if (await repairOne(defect, `of the ${text}`, settings)) settings.onRepaired(text)
  }
}

async function repairOne(defect: Defect, step: string, settings: RepairSettings): Promise<boolean> {
  const { client, schema, onProgress } = settings
  let text = withSchema(defect.definition, schema)
  if (text.includes('{trgm}')) {
    const home = await provideTrigrams(settings)
    if (home === undefined) {
      onProgress('The extension pg_trgm is not available: users are searched without an index')
      return false
    }
    text = text.replaceAll('{trgm}', quote(home))
  }
  if (defect.kind === 'index') {
    const concurrent = text.replace(
      /^CREATE (UNIQUE )?INDEX /,
      'create $1index concurrently if not exists ',
    )
    await applyConcurrently(step, concurrent, settings)
    return true
  }
  const [table = '', name = ''] = defect.name.split('.')
  const alter = `alter table ${quote(schema, table)}`
  const change = defect.kind === 'trigger' ? 'enable trigger' : 'validate constraint'
  await inTransaction(step, settings, async () => {
    await client.query(defect.isMissing ? text : `${alter} ${change} ${quote(name)}`)
  })
  return true
}

/** The schema of the extension, which `pg_dump -n` leaves out; undefined where it cannot be had. */
async function provideTrigrams({ client, schema }: Catalog): Promise<string | undefined> {
  const find = async () => {
    const { rows } = await client.query<{ home: string }>(
      `select n.nspname as home from pg_extension e join pg_namespace n on n.oid = e.extnamespace
       where e.extname = 'pg_trgm'`,
    )
    return rows[0]?.home
  }
  for (const where of ['', ' with schema {ns}']) {
    const home = await find()
    if (home !== undefined) return home
    // Not everybody may write to the schema that is first in the path; the other one is ours.
    await client
      .query(withSchema(`create extension if not exists pg_trgm${where}`, schema))
      .catch(() => undefined)
  }
  return await find()
}
