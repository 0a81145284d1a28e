import { Client } from 'pg'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { runIn } from './shared-postgres.ts'

interface MigratedSchema {
  readonly name: string
  /** A transaction after its migrations. */
  readonly migratedBefore: string
}

/** Schemas of this process that are no longer in use. */
const free: MigratedSchema[] = []
let made = 0

export interface TestSchema {
  readonly name: string
  /** Marks the schema as no longer in use. */
  release(): void
}

/**
 * Opens a schema with empty tables. Creating one takes PostgreSQL a tenth of a second and emptying
 * one almost no time, so a schema is reused unless a test has changed its tables.
 */
export async function openTestSchema(url: string): Promise<TestSchema> {
  for (let schema = free.pop(); schema !== undefined; schema = free.pop()) {
    if (await empty(url, schema)) return toTestSchema(schema)
  }
  const name = `auth_${process.pid}_${++made}`
  await migrate({ url, schema: name })
  const [row] = await runIn(url, 'select pg_current_xact_id()::xid::text as "migratedBefore"')
  return toTestSchema({ name, migratedBefore: `${row?.['migratedBefore']}` })
}

function toTestSchema(schema: MigratedSchema): TestSchema {
  return { name: schema.name, release: () => void free.push(schema) }
}

/** Finds catalog entries that are newer than the migrations. */
const findChanges = `
  with ns as (select $1::regnamespace as oid),
    things as (
      select xmin from pg_class where relnamespace = (select oid from ns)
      union all
      select xmin from pg_proc where pronamespace = (select oid from ns)
      union all
      select xmin from pg_constraint where connamespace = (select oid from ns)
      union all
      select a.xmin from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = (select oid from ns)
      union all
      select t.xmin from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where c.relnamespace = (select oid from ns)
    )
  select from things where age(xmin) < age($2::xid) limit 1`

/**
 * Deletes all rows with triggers disabled, so the order does not matter. Most tables have never had a row, and
 * planning a statement for each of them would take most of the time.
 */
const deleteAll = `
  do $$
    declare thing record;
    begin
      set local session_replication_role = replica;
      for thing in select oid::regclass as name, relkind as kind from pg_class
        where relnamespace = current_schema::regnamespace and relname <> 'schema_migrations'
          and relkind in ('r', 'S') and pg_relation_size(oid) > 0
      loop
        case thing.kind
          when 'r' then execute format('delete from %s', thing.name);
          when 'S' then perform setval(thing.name, 1, false);
        end case;
      end loop;
    end
  $$`

/** Returns false if a test has changed the tables themselves. */
async function empty(url: string, schema: MigratedSchema): Promise<boolean> {
  const { name, migratedBefore } = schema
  const client = new Client({ connectionString: url, options: `-c search_path=${name}` })
  await client.connect()
  try {
    const { rowCount } = await client.query(findChanges, [name, migratedBefore])
    if (rowCount !== 0) return false
    await client.query(deleteAll)
    return true
  } finally {
    await client.end()
  }
}
