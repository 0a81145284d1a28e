import type { Client, QueryResultRow } from 'pg'
import { quote } from '../db/statement.ts'
import { begin, commit, rollback, runTransaction } from '../db/transaction.ts'
import {
  beginReading,
  type Default,
  type ForeignKey,
  findCode,
  findDefaults,
  findForeignKeys,
  findGrants,
  findPolicies,
  findTriggers,
  type Named,
  type Policy,
  qualifyNames,
  type Rename,
  toDefaultStatement,
  toKeyStatements,
  toPolicyStatement,
} from './statements/repoint.ts'

/** How to make the objects of an application refer to the schema of another auth server. */
export interface RepointPlan {
  /** SQL that can be run without a review. */
  readonly statements: readonly string[]
  /**
   * Objects that the operator has to change: code, because it may contain the name of the schema with
   * another meaning, and foreign keys to tables other than `users`.
   */
  readonly manual: readonly string[]
}

export interface RepointSettings {
  /** The schema that the objects refer to now. */
  readonly from: string
  /** The schema that they are to refer to. */
  readonly to: string
}

/**
 * Plans the change of foreign keys to `users`, of policies and defaults that call functions such as
 * `uid()`, of the privileges to call these functions, and of triggers on `users`. Triggers and
 * privileges are copied: those on the old objects stay there.
 */
export async function planRepointing(
  client: Client,
  settings: RepointSettings,
): Promise<RepointPlan> {
  const { from, to } = settings
  await client.query(beginReading)
  try {
    await client.query(qualifyNames)
    const list = async <Row extends QueryResultRow>(text: string) =>
      (await client.query<Row>(text, [from, to])).rows
    const keys = await list<ForeignKey>(findForeignKeys)
    const policies = await list<Policy>(findPolicies)
    const defaults = await list<Default>(findDefaults)
    const triggers = await list<Named & { readonly definition: string }>(findTriggers)
    const code = await list<Named & { readonly text: string }>(findCode)
    const grants = await listGrants(client, settings)
    const rename = createRename(settings)
    const mentions = (text: string | null) => text !== null && rename(text) !== text
    return {
      statements: [
        ...grants,
        ...keys.filter(({ referenced }) => referenced === 'users').flatMap(toKeyStatements(rename)),
        ...policies
          .filter(({ condition, check }) => mentions(condition) || mentions(check))
          .map(toPolicyStatement(rename)),
        ...defaults
          .filter(({ expression }) => mentions(expression))
          .map(toDefaultStatement(rename)),
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
    await client.query(rollback)
  }
}

/** Without these privileges, policies that call the functions in the new schema would fail. */
async function listGrants(client: Client, { from, to }: RepointSettings): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(findGrants, [from, to, claimFunctions])
  return rows.map(({ statement }) => statement)
}

/** Functions that return the claims of the current user, without arguments. */
const claimFunctions = ['uid', 'jwt', 'role', 'email'] as const

/** Replaces the schema where it qualifies a table or function that both schemas have. */
function createRename({ from, to }: RepointSettings): Rename {
  const escaped = from.replaceAll(/[^\w]/g, '\\$&')
  const tables = '(?:users|identities|sessions|mfa_factors)(?![\\w$\\u0080-\\uffff])'
  const names = `(${tables}|(?:${claimFunctions.join('|')})\\()`
  const pattern = new RegExp(`(?<![\\w.])(?:${escaped}|"${escaped}")\\.${names}`, 'g')
  return (text) => text.replaceAll(pattern, (_all, name: string) => `${quote(to)}.${name}`)
}

export function toRepointText(
  { statements, manual }: RepointPlan,
  settings: RepointSettings,
): string {
  const lines = [
    `-- Makes the objects of the application refer to the schema ${quote(settings.to)} instead of ${quote(settings.from)}.`,
    ...(statements.length === 0
      ? ['-- Nothing has to be changed.']
      : [`${begin};`, ...statements, `${commit};`]),
    ...(manual.length === 0 ? [] : ['-- Review and change these yourself:']),
    ...manual.map((name) => `--   ${name}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Runs all statements, or none if one fails. */
export async function applyRepointing(client: Client, { statements }: RepointPlan): Promise<void> {
  await runTransaction(client, async () => {
    for (const statement of statements) await client.query(statement)
  })
}
