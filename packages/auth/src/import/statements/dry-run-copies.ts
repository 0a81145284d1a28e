/**
 * By table: the columns, besides the ID and the time of the last change, that decide whether a row is
 * skipped. These are the rows that it belongs to, and the values that must be unique.
 */
const decisiveColumns: Readonly<Record<string, readonly string[]>> = {
  users: ['email', 'phone', 'is_sso_user'],
  identities: ['user_id', 'provider_id', 'provider'],
  mfa_factors: ['user_id', 'friendly_name', 'phone'],
  webauthn_credentials: ['user_id', 'credential_id'],
  sso_providers: ['resource_id', 'entity_id'],
  custom_providers: ['identifier'],
  custom_oauth_providers: ['identifier'],
  oauth_consents: ['user_id', 'client_id', 'resource', 'granted_at', 'revoked_at'],
  sessions: ['user_id'],
}

const indexedColumns = ['email', 'phone', 'user_id', 'provider_id', 'credential_id']

/** By column: the table that it refers to. */
const references: Readonly<Record<string, string>> = {
  user_id: 'users',
  client_id: 'oauth_clients',
}

/** The schema of the copies. They are temporary tables, which end with the connection. */
export const copySchema = 'pg_temp'

/** Whether a column is part of the copy of a table. */
export function isCopied(table: string, column: string): boolean {
  return column === 'updated_at' || (decisiveColumns[table]?.includes(column) ?? false)
}

interface CopiedTable {
  readonly name: string
  /** The column with the time of the last change. Default: `updated_at`. */
  readonly changedAt?: string
  /** By table: the foreign key that refers to this table. These tables are copied as a whole. */
  readonly companions?: Readonly<Record<string, string>>
}

interface CopySettings {
  /** The quoted name of the schema. */
  readonly schema: string
  /** A table follows the tables that its foreign keys refer to. */
  readonly tables: readonly CopiedTable[]
  /** Whether a table has a column. Releases of Supabase Auth differ. */
  readonly has: (table: string, column: string) => boolean
}

/**
 * Copies tables into temporary tables. A dry run changes the copies with the statements of a real run,
 * so that both report the same: rows that are removed free their addresses, and rows that are added
 * take theirs.
 */
export function copyTables({ schema, tables, has }: CopySettings): string {
  const copies = tables.flatMap(({ name, changedAt = 'updated_at', companions = {} }) => {
    const columns = (decisiveColumns[name] ?? []).filter((column) => has(name, column))
    return [
      `create temp table ${name} as
        select ${[...new Set(['id', changedAt, ...columns])].join(', ')} from ${schema}.${name};
      alter table pg_temp.${name} add primary key (id);`,
      ...columns
        .filter((column) => indexedColumns.includes(column))
        .map((column) => `create index on pg_temp.${name} (${column});`),
      ...columns.flatMap((column) => toReference(name, column, references[column])),
      `analyze pg_temp.${name};`,
      ...Object.entries(companions).flatMap(([companion, column]) => [
        `create temp table ${companion} as select * from ${schema}.${companion};`,
        ...toReference(companion, column, name),
      ]),
    ]
  })
  // One snapshot, so that the rows that copied rows refer to are copied too.
  return `begin isolation level repeatable read; ${copies.join('\n')} commit`
}

function toReference(table: string, column: string, to: string | undefined): readonly string[] {
  if (to === undefined) return []
  return [
    `alter table pg_temp.${table} add foreign key (${column}) references pg_temp.${to}
       on delete cascade;`,
  ]
}
