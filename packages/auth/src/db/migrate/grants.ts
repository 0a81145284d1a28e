import { quote } from '../quote.ts'

export interface GrantsSettings {
  readonly schema: string
  /** Whom the server connects as. */
  readonly role: string
  /** Whom migrations are applied as: the tables of later ones are covered as well. */
  readonly owner: string | undefined
}

/** The statements that let a role serve, and nothing else. */
export function toGrants({ schema, role, owner }: GrantsSettings): string {
  const [inSchema, to] = [`in schema ${quote(schema)}`, `to ${quote(role)}`]
  const forOwner = owner === undefined ? '' : ` for role ${quote(owner)}`
  const runnerTables = ['schema_migrations', 'migration_lease']
  const own = runnerTables.map((name) => quote(schema, name)).join(', ')
  return `-- Lets the role serve and write backups: it reads and writes rows. It cannot change tables or migrate.
grant usage on schema ${quote(schema)} ${to};
grant select, insert, update, delete on all tables ${inSchema} ${to};
grant select on all sequences ${inSchema} ${to};
revoke insert, update, delete on ${own} from ${quote(role)};
-- The same for what later migrations make.
alter default privileges${forOwner} ${inSchema}
  grant select, insert, update, delete on tables ${to};
alter default privileges${forOwner} ${inSchema} grant select on sequences ${to};
`
}
