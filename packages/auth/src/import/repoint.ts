import type { Client, QueryResultRow } from 'pg'
import { quote } from '../db/statement.ts'
import {
  findCode,
  findDefaults,
  findForeignKeys,
  findPolicies,
  findTriggers,
  qualifyNames,
} from './statements/repoint.ts'

/** SQL that makes the objects of an application refer to the schema of another auth server. */
export interface Repointing {
  readonly statements: readonly string[]
  /** Objects that a person has to change, because they contain code. */
  readonly manual: readonly string[]
}

export interface RepointSettings {
  /** The schema that the objects refer to now. */
  readonly from: string
  readonly to: string
}

/**
 * Finds foreign keys to `users`, policies and defaults that call `uid()` and the like, and triggers on
 * `users`. Triggers are copied: those on the table of the other server stay there.
 */
export async function findRepointing(
  client: Client,
  settings: RepointSettings,
): Promise<Repointing> {
  const { from, to } = settings
  await client.query('begin read only')
  try {
    await client.query(qualifyNames)
    const list = async <Row extends QueryResultRow>(text: string) =>
      (await client.query<Row>(text, [from, to])).rows
    const keys = await list<ForeignKey>(findForeignKeys)
    const policies = await list<Policy>(findPolicies)
    const defaults = await list<Default>(findDefaults)
    const triggers = await list<Named & { readonly definition: string }>(findTriggers)
    const code = await list<Named & { readonly text: string }>(findCode)
    const rename = createRename(settings)
    const mentions = (text: string | null) => text !== null && rename(text) !== text
    return {
      statements: [
        ...keys.filter(({ referenced }) => referenced === 'users').flatMap(toKey(rename)),
        ...policies
          .filter(({ condition, check }) => mentions(condition) || mentions(check))
          .map(toPolicy(rename)),
        ...defaults
          .filter(({ expression }) => mentions(expression))
          .map(
            ({ table, name, expression }) =>
              `alter table ${table} alter column ${name} set default ${rename(expression)};`,
          ),
        ...triggers.map(({ definition }) => `${rename(definition)};`),
      ],
      manual: [
        ...keys
          .filter(({ referenced }) => referenced !== 'users')
          .map(({ table, name, referenced }) => `foreign key ${name} of ${table} to ${referenced}`),
        ...code.filter(({ text }) => mentions(text)).map(({ name }) => name),
      ],
    }
  } finally {
    await client.query('rollback')
  }
}

interface Named {
  readonly name: string
}

interface ForeignKey extends Named {
  readonly table: string
  readonly definition: string
  readonly referenced: string
  readonly isPartitioned: boolean
}

interface Policy extends Named {
  readonly table: string
  readonly condition: string | null
  readonly check: string | null
}

interface Default extends Named {
  readonly table: string
  readonly expression: string
}

type Rename = (text: string) => string

/** Replaces the schema in front of the names that both schemas have. */
function createRename({ from, to }: RepointSettings): Rename {
  const escaped = from.replaceAll(/[^\w]/g, '\\$&')
  const names = '(users|identities|sessions|mfa_factors|uid\\(|jwt\\(|role\\(|email\\()'
  const pattern = new RegExp(`(?<![\\w.])(?:${escaped}|"${escaped}")\\.${names}`, 'g')
  return (text) => text.replaceAll(pattern, (_all, name: string) => `${quote(to)}.${name}`)
}

/** A key that is not valid does not read its table, and the validation does not block writes. */
function toKey(rename: Rename) {
  return ({ table, name, definition, isPartitioned }: ForeignKey): readonly string[] => {
    const renamed = rename(definition.replace(/ NOT VALID$/, ''))
    const change = `alter table ${table} drop constraint ${name}, add constraint ${name} ${renamed}`
    // PostgreSQL before 18 validates keys of partitioned tables at once.
    if (isPartitioned) return [`${change};`]
    const isValidated = !/ NOT VALID$/.test(definition)
    return [
      `${change} not valid;`,
      ...(isValidated ? [`alter table ${table} validate constraint ${name};`] : []),
    ]
  }
}

function toPolicy(rename: Rename) {
  return ({ table, name, condition, check }: Policy): string => {
    const using = condition === null ? '' : ` using (${rename(condition)})`
    const withCheck = check === null ? '' : ` with check (${rename(check)})`
    return `alter policy ${name} on ${table}${using}${withCheck};`
  }
}

export function toRepointText(
  { statements, manual }: Repointing,
  settings: RepointSettings,
): string {
  const lines = [
    `-- Makes the objects of the application refer to the schema ${quote(settings.to)} instead of ${quote(settings.from)}.`,
    ...(statements.length === 0 ? ['-- There are none.'] : ['begin;', ...statements, 'commit;']),
    ...(manual.length === 0 ? [] : ['-- Review these yourself:']),
    ...manual.map((name) => `--   ${name}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Runs all statements, or none if one fails. */
export async function applyRepointing(client: Client, { statements }: Repointing): Promise<void> {
  await client.query('begin')
  try {
    for (const statement of statements) await client.query(statement)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
