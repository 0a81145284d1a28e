import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'pg'
import { type ApplySettings, applyConcurrently, inTransaction } from '../migrate/apply.ts'
import { quote, withSchema } from '../statement.ts'

export interface Defects {
  /**
   * Missing tables and columns, whose data is lost, and other defects that this role may not
   * repair.
   */
  readonly lost: readonly string[]
  readonly repairable: readonly Defect[]
}

interface Defect extends ExpectedObject {
  readonly isMissing: boolean
}

type Catalog = Pick<ApplySettings, 'client' | 'schema'>

/** Finds objects of the migrations that are missing or unusable. */
export async function findDefects({ client, schema }: Catalog): Promise<Defects> {
  const [expected, existing] = [await readExpected(), await readObjects(client, schema)]
  const found = new Map(existing.map((object) => [`${object.kind} ${object.name}`, object]))
  const lost: string[] = []
  const repairable: Defect[] = []
  for (const object of expected) {
    const { kind, name, definition } = object
    const actual = found.get(`${kind} ${name}`)
    if (kind === 'table') lost.push(...findLost(name, definition, actual?.definition))
    else if (!actual?.isSound) repairable.push({ ...object, isMissing: actual === undefined })
  }
  if (repairable.length === 0 || (await isOwner({ client, schema }))) return { lost, repairable }
  // A role that may only serve cannot repair anything. The trigram index is optional; all others
  // are required.
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

/** Columns are compared by name and type; additional columns and another order are allowed. */
function findLost(table: string, expected: string, actual: string | undefined): readonly string[] {
  if (actual === undefined) return [`the table ${table}`]
  const columns = new Set(actual.split(', '))
  return expected
    .split(', ')
    .filter((column) => !columns.has(column))
    .map((column) => `the column ${table}.${column.split(' ')[0]}`)
}

/** @throws {Error} if tables or columns are missing. */
export function refuseLost({ lost }: Defects, schema: string): void {
  if (lost.length === 0) return
  throw new Error(
    `The schema "${schema}" lacks objects of applied migrations: ${lost.join(', ')}. ` +
      'Run auth migrate as the owner of the tables; restore lost tables and columns from a backup.',
  )
}

interface RepairSettings extends ApplySettings {
  readonly onRepaired: (object: string) => void
}

/** Repairs objects as migrations create them: indexes concurrently, all others in transactions. */
export async function repair({ repairable }: Defects, settings: RepairSettings): Promise<void> {
  for (const defect of repairable) {
    const text = `${defect.kind} ${defect.name}`
    if (await repairOne(defect, `Repair of the ${text}`, settings)) settings.onRepaired(text)
  }
}

async function repairOne(defect: Defect, step: string, settings: RepairSettings): Promise<boolean> {
  const { client, schema, onProgress } = settings
  let text = withSchema(defect.definition, schema)
  if (text.includes('{trgm}')) {
    const extensionSchema = await provideTrigrams(settings)
    if (extensionSchema === undefined) {
      onProgress('The extension pg_trgm is not available: users are searched without an index')
      return false
    }
    text = text.replaceAll('{trgm}', quote(extensionSchema))
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

/**
 * Returns the schema of the extension, which `pg_dump -n` leaves out; undefined if it is
 * unavailable.
 */
async function provideTrigrams({ client, schema }: Catalog): Promise<string | undefined> {
  const find = async () => {
    const { rows } = await client.query<{ schema: string }>(
      `select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
       where e.extname = 'pg_trgm'`,
    )
    return rows[0]?.schema
  }
  for (const where of ['', ' with schema {ns}']) {
    const found = await find()
    if (found !== undefined) return found
    // The role may not be allowed to create objects in the first schema of the search path, but it
    // can in ours.
    await client
      .query(withSchema(`create extension if not exists pg_trgm${where}`, schema))
      .catch(() => undefined)
  }
  return await find()
}

/** `{ns}` is replaced by the schema, `{trgm}` by the schema of the extension pg_trgm. */
type ExpectedObject = Omit<SchemaObject, 'isSound'>

export const expectedFile = join(import.meta.dirname, 'schema.sql')

const heading = `-- All objects that the migrations create, for comparison and repair. Generated by
-- UPDATE_SCHEMA=1 npm test -- packages/auth/test/db/schema.test.ts
`

async function readExpected(): Promise<readonly ExpectedObject[]> {
  const text = await readFile(expectedFile, 'utf8')
  const parts = text.split(/^-- (table|constraint|index|function|trigger) (.+)\n/m)
  const objects: ExpectedObject[] = []
  for (let at = 1; at + 2 < parts.length + 1; at += 3) {
    const [kind, name = '', definition = ''] = parts.slice(at, at + 3)
    objects.push({
      kind: kind as SchemaObject['kind'],
      name,
      definition: definition.trim().replace(/^-- |;$/g, ''),
    })
  }
  return objects
}

/**
 * Generates the text of schema.sql. The name of the schema is replaced wherever it occurs, so it must
 * not be part of any other name.
 */
export function toExpectedText(objects: readonly SchemaObject[], schema: string): string {
  const parts = objects.map(({ kind, name, definition }) => {
    const body = kind === 'table' ? `-- ${definition}` : `${definition};`
    return `-- ${kind} ${name}\n${body}\n`
  })
  return `${heading}\n${parts.join('\n')}`
    .replaceAll(`"${schema}"`, '{ns}')
    .replaceAll(schema, '{ns}')
    .replaceAll(/[\w{}]+\.gin_trgm_ops/g, '{trgm}.gin_trgm_ops')
}

/** A database object that migrations create. */
interface SchemaObject {
  readonly kind: 'table' | 'constraint' | 'index' | 'function' | 'trigger'
  /** `users`, `users.users_email` or `count_users()`. */
  readonly name: string
  /** The statement that creates it; for a table its columns, which are only compared. */
  readonly definition: string
  /** False for an incomplete index, a disabled trigger or a constraint that was not validated. */
  readonly isSound: boolean
}

/**
 * Ordered so that the objects can be created in sequence. The search path is empty, so that all
 * names are qualified.
 */
const findObjects = `
  with ns as (select oid, nspname from pg_namespace where nspname = $1),
  tables as (
    select c.oid, c.relname from pg_class c join ns on ns.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition
  )
  select 1 as place, 'table' as kind, t.relname as name, true as "isSound",
    string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
      as definition
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  group by t.relname
  union all
  select 2, 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', true,
    trim(pg_get_functiondef(p.oid))
  from pg_proc p join ns on ns.oid = p.pronamespace
  where p.prokind = 'f' and not exists (
    select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid
      and d.deptype = 'e'
  )
  union all
  select case k.contype when 'f' then 4 else 3 end, 'constraint', t.relname || '.' || k.conname,
    k.convalidated,
    format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', ns.nspname, t.relname, k.conname,
      replace(pg_get_constraintdef(k.oid), ' NOT VALID', ''))
  from ns, pg_constraint k join tables t on t.oid = k.conrelid
  where k.contype in ('p', 'u', 'f', 'c')
  union all
  select 5, 'index', t.relname || '.' || c.relname, i.indisvalid, pg_get_indexdef(i.indexrelid)
  from pg_index i join tables t on t.oid = i.indrelid join pg_class c on c.oid = i.indexrelid
  where not exists (
    select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u')
  )
  union all
  select 6, 'trigger', t.relname || '.' || g.tgname, g.tgenabled <> 'D', pg_get_triggerdef(g.oid)
  from pg_trigger g join tables t on t.oid = g.tgrelid where not g.tgisinternal
  order by 1, 3`

/** The migration runner creates its own tables. */
const runnerTables: ReadonlySet<string> = new Set(['schema_migrations', 'migration_lease'])

/** Reads the catalog, which needs no privilege. */
export async function readObjects(
  client: Client,
  schema: string,
): Promise<readonly SchemaObject[]> {
  await client.query('begin transaction read only')
  try {
    await client.query("select set_config('search_path', 'pg_catalog', true)")
    const { rows } = await client.query<SchemaObject>(findObjects, [schema])
    return rows
      .filter(({ name }) => !runnerTables.has(name.split('.')[0] ?? ''))
      .map(({ kind, name, definition, isSound }) => ({ kind, name, definition, isSound }))
  } finally {
    await client.query('rollback')
  }
}
