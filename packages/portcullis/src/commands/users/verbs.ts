import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import { parseDuration } from '@portcullis/service-kit/settings/duration'
import { UpRefusal } from '../../up/errors.ts'
import { authFile } from '../../up/parts/auth.ts'
import { AdminFailure } from '../admin/client.ts'
import { printItem } from '../admin/output.ts'
import { createPaint } from '../admin/text.ts'
import { createClient } from '../admin/verb.ts'
import { findDataFolder } from '../find-data-folder.ts'
import { handOver } from '../hand-over.ts'
import { grantsVerb, revokeGrant } from './grant-verbs.ts'
import { deleteVerb, resetFactors } from './removal-verbs.ts'
import { type SessionRecord, toDetails, toName, toUserTable, type UserRecord } from './user-text.ts'
import { getUser, listSlices, mostListed, type UsersInput, type UsersVerb } from './verb.ts'

const find: UsersVerb = {
  synopsis: '[TEXT] [--limit N] [--auth-url URL]',
  summary: 'list the newest users, or those whose email address, phone number, name\nor id matches',
  takes: [0, 1],
  options: ['limit', 'auth-url'],
  operands: 'any',
  findFault({ values: { limit } }) {
    if (limit === undefined) return undefined
    const count = Number(limit)
    if (Number.isInteger(count) && count >= 1 && count <= mostListed) return undefined
    return toValueFault('--limit', `a whole number from 1 to ${mostListed}`, `${limit}`)
  },
  async run(input) {
    const { positionals, values, io } = input
    const [filter = ''] = positionals
    const limit = Number(values.limit ?? 50)
    // One more than the limit shows that there are more users.
    const size = Math.min(limit + 1, mostListed)
    const found: UserRecord[] = []
    let isComplete = true
    for await (const users of listSlices(createClient(input), filter, size)) {
      found.push(...users)
      isComplete = found.length <= limit
      if (!isComplete) break
    }
    const shown = found.slice(0, limit)
    if (values.json) for (const user of shown) io.stdout.write(`${JSON.stringify(user)}\n`)
    else if (shown.length > 0) io.stdout.write(toUserTable(shown, createPaint(io)))
    else io.stderr.write(filter === '' ? 'There are no users.\n' : 'No users match.\n')
    if (!isComplete)
      io.stderr.write(`There are more users. To list up to ${mostListed}, pass --limit.\n`)
  },
}

const show: UsersVerb = {
  synopsis: 'USER [--auth-url URL]',
  summary: 'print a user and their sessions; USER is an id, an email address or a\nphone number',
  takes: [1, 1],
  options: ['auth-url'],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const client = createClient(input)
    const user = await getUser(client, positionals[0] ?? '')
    // Supabase Auth has no list of sessions.
    const list = await client.get(`/admin/users/${user.id}/sessions`)
    const { sessions = list } = Object(list)
    const known: readonly SessionRecord[] | undefined = Array.isArray(sessions)
      ? sessions
      : undefined
    io.stdout.write(
      values.json
        ? `${JSON.stringify({ ...user, ...(known && { sessions: known }) })}\n`
        : toDetails(user, known, createPaint(io)),
    )
  },
}

/** The server needs a duration. The console also bans for 100 years. */
const foreverHours = 100 * 365 * 24

const ban: UsersVerb = {
  synopsis: 'USER DURATION|forever [--auth-url URL]',
  summary: 'ban a user for a duration such as 24h; access tokens stay valid until they\nexpire',
  takes: [2, 2],
  options: ['auth-url'],
  operands: 'any',
  findFault({ positionals: [, duration = ''] }) {
    if (duration === 'forever' || (parseDuration(duration) ?? 0) > 0) return undefined
    return toValueFault('DURATION', 'a duration such as 24h, or forever', duration)
  },
  async run(input) {
    const [, duration = ''] = input.positionals
    await setBan(input, duration === 'forever' ? `${foreverHours}h` : duration)
  },
}

const unban: UsersVerb = {
  synopsis: 'USER [--auth-url URL]',
  summary: 'end the ban of a user',
  takes: [1, 1],
  options: ['auth-url'],
  operands: 'any',
  run: (input) => setBan(input, 'none'),
}

async function setBan(input: UsersInput, duration: string): Promise<void> {
  const client = createClient(input)
  const user = await getUser(client, input.positionals[0] ?? '')
  const changed = await client.put(`/admin/users/${user.id}`, { ban_duration: duration })
  // The user was deleted in the meantime.
  if (changed === undefined) throw new AdminFailure(`There is no user ${user.id}.`)
  const banned = changed as UserRecord
  const result =
    duration === 'none'
      ? 'is no longer banned'
      : `is banned until ${banned.banned_until ?? 'further notice'}`
  printItem(input, banned, `${toName(user)} ${result}`)
}

const exportVerb: UsersVerb = {
  synopsis: 'FILE',
  summary: 'write all users to a file, one JSON object per line, with password hashes',
  takes: [1, 1],
  options: [],
  operands: 'file',
  run: async ({ positionals: [file = ''], values }) =>
    await runAuth(['export', '--jsonl', file, ...toAuthOptions(values)]),
}

const importVerb: UsersVerb = {
  synopsis: 'FILE [--csv] [--dry-run]',
  summary: 'create the users in a file, which users export or another program wrote',
  takes: [1, 1],
  options: ['csv', 'dry-run'],
  operands: 'file',
  run: async ({ positionals: [file = ''], values }) =>
    await runAuth([
      'import',
      values.csv ? '--csv' : '--jsonl',
      file,
      ...(values['dry-run'] ? ['--dry-run'] : []),
      ...toAuthOptions(values),
    ]),
}

/** @throws {AdminFailure} if `portcullis up` does not use the given folder. */
function toAuthOptions({ data, json }: UsersInput['values']): readonly string[] {
  if (typeof data === 'string') requireFolder(data)
  return [
    ...(typeof data === 'string' ? ['--config', `${data}/${authFile}`] : []),
    ...(json ? ['--json'] : []),
  ]
}

function requireFolder(path: string): void {
  try {
    findDataFolder(path)
  } catch (error) {
    throw error instanceof UpRefusal ? new AdminFailure(error.message) : error
  }
}

/** The program of the auth server reads and writes these files, because it has access to the database. */
async function runAuth(args: readonly string[]): Promise<void> {
  await handOver({ name: 'auth', packageName: '@portcullis/auth', args })
  // The program ends the process itself.
  await new Promise(() => {})
}

export const usersVerbs: Readonly<Record<string, UsersVerb>> = {
  find,
  show,
  ban,
  unban,
  delete: deleteVerb,
  'reset-factors': resetFactors,
  grants: grantsVerb,
  'revoke-grant': revokeGrant,
  export: exportVerb,
  import: importVerb,
}
