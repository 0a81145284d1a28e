/**
 * By table: the columns, besides the ID and the time of the last change, that decide whether a row is
 * skipped. These are its user, and the values that must be unique.
 */
const decisiveColumns: Readonly<Record<string, readonly string[]>> = {
  users: ['email', 'phone', 'is_sso_user'],
  identities: ['user_id', 'provider_id', 'provider'],
  mfa_factors: ['user_id', 'friendly_name', 'phone'],
  webauthn_credentials: ['user_id', 'credential_id'],
  sessions: ['user_id'],
}

const indexedColumns = ['email', 'phone', 'user_id', 'provider_id', 'credential_id']

/** The schema of the copies. They are temporary tables, which end with the connection. */
export const copySchema = 'pg_temp'

/** Whether a column is part of the copy of a table. */
export function isCopied(table: string, column: string): boolean {
  return column === 'updated_at' || (decisiveColumns[table]?.includes(column) ?? false)
}

interface CopySettings {
  /** The quoted name of the schema. */
  readonly schema: string
  /** The names of the tables; `users` first. */
  readonly tables: readonly string[]
  /** Whether a table has a column. Releases of Supabase Auth differ. */
  readonly has: (table: string, column: string) => boolean
}

/**
 * Copies tables into temporary tables. A dry run changes the copies with the statements of a real run,
 * so that both report the same: rows that are removed free their addresses, and rows that are added
 * take theirs.
 */
export function copyTables({ schema, tables, has }: CopySettings): string {
  const copies = tables.flatMap((name) => {
    const columns = (decisiveColumns[name] ?? []).filter((column) => has(name, column))
    return [
      `create temp table ${name} as
        select ${['id', 'updated_at', ...columns].join(', ')} from ${schema}.${name};
      alter table pg_temp.${name} add primary key (id);`,
      ...columns
        .filter((column) => indexedColumns.includes(column))
        .map((column) => `create index on pg_temp.${name} (${column});`),
      ...(columns.includes('user_id')
        ? [
            `alter table pg_temp.${name}
              add foreign key (user_id) references pg_temp.users on delete cascade;`,
          ]
        : []),
      `analyze pg_temp.${name};`,
    ]
  })
  // One snapshot, so that the users of all copied rows are copied too.
  return `begin isolation level repeatable read; ${copies.join('\n')} commit`
}
