import process from 'node:process'
import { text } from 'node:stream/consumers'
import type { CommandIo } from '@portcullis/service-kit/command'
import { ApiError } from '../../errors.ts'
import { createUserAsAdmin } from '../../features/admin/create-user.ts'
import { listAfter } from '../../features/admin/list-users.ts'
import { parseCount } from '../../features/admin/pages.ts'
import { parseBan, removeUser, updateUserAsAdmin } from '../../features/admin/users.ts'
import { toAdminEntry } from '../../features/audit/audit.ts'
import { logOut, revokeAllSessions } from '../../features/sessions/session-list.ts'
import { parseEmail } from '../../features/users/addresses.ts'
import {
  findUserByEmail,
  findUserById,
  type UserRow,
} from '../../features/users/statements/user-row.ts'
import type { UserRecord } from '../../features/users/user-record.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'

/** What `auth admin` may be asked to do. */
export interface AdminVerb {
  /** What follows the name of the verb. */
  readonly synopsis: string
  /** One line. */
  readonly summary: string
  /** Positional arguments: at least and at most. */
  readonly takes: readonly [least: number, most: number]
  /** The options it knows, besides those of all. */
  readonly options: readonly AdminOption[]
  /** @throws {ApiError} with what keeps it from being done. */
  run(services: Services, input: AdminInput): Promise<void>
}

export type AdminOption = 'confirm' | 'admin' | 'soft' | 'json' | 'aud' | 'filter' | 'limit' | 'all'

export interface AdminInput {
  readonly positionals: readonly string[]
  readonly flags: ReadonlySet<AdminOption>
  readonly texts: ReadonlyMap<AdminOption, string>
  /** Whose users are meant. */
  readonly audience: string
  readonly io: CommandIo
}

/** Who did it, in the audit log: whoever may run commands on the server's machine. */
const operator = 'auth admin'

const operatorClient = { ip: '', userAgent: '' } as const

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The user that the first argument names, by id or by address. @throws {ApiError} */
async function findUser(
  { db }: Services,
  { positionals: [name = ''], audience }: AdminInput,
): Promise<UserRow> {
  const [user] = uuid.test(name)
    ? await db.run(findUserById, { id: name.toLowerCase() })
    : await db.run(findUserByEmail, { email: parseEmail(name), audience })
  if (user !== undefined) return user
  const where = uuid.test(name) || audience === '' ? '' : ` in the audience ${audience}`
  throw new ApiError('user_not_found', `There is no user ${name}${where}.`)
}

/** How output names a user. */
function toName({ id, email, phone }: Pick<UserRow, 'id' | 'email' | 'phone'>): string {
  const reach = email || phone
  return reach ? `${id} (${reach})` : id
}

const createuser: AdminVerb = {
  synopsis: 'EMAIL PASSWORD [ROLE] [--confirm] [--admin] [--aud AUDIENCE]',
  summary: 'create a user; nothing is sent. The password - is read from standard input',
  takes: [2, 3],
  options: ['confirm', 'admin', 'aud'],
  async run(services, { positionals, flags, audience, io }) {
    const [email = '', given = '', namedRole] = positionals
    const { tokens, mail } = services.config
    const password = given === '-' ? await readPassword() : given
    await checkPassword(password, services.passwordPolicy)
    const role = namedRole ?? (flags.has('admin') ? tokens.adminGroup : undefined)
    const isConfirmed = flags.has('confirm') || mail.autoconfirm
    const user = await createUserAsAdmin(services, {
      id: undefined,
      aud: audience,
      role,
      email: parseEmail(email),
      phone: undefined,
      password,
      passwordHash: undefined,
      isEmailConfirmed: isConfirmed,
      isPhoneConfirmed: false,
      userMetadata: {},
      appMetadata: {},
      bannedUntil: undefined,
      adminRole: operator,
      client: operatorClient,
    })
    io.stdout.write(`${user.id}\n`)
    if (!isConfirmed) {
      io.stderr.write('The address is not confirmed: --confirm lets the user sign in at once.\n')
    }
    if (flags.has('admin') && !tokens.adminRoles.includes(role ?? '')) {
      io.stderr.write(
        `The role ${role} may not use the admin endpoints: AUTH_JWT_ADMIN_ROLES does not name it.\n`,
      )
    }
  },
}

/** Arguments are seen by everybody on the machine; standard input is not. */
async function readPassword(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

const deleteuser: AdminVerb = {
  synopsis: 'ID|EMAIL [--soft] [--aud AUDIENCE]',
  summary: 'delete a user with all that belongs to them; --soft keeps the id alone',
  takes: [1, 1],
  options: ['soft', 'aud'],
  async run(services, input) {
    const user = await findUser(services, input)
    await removeUser(services, {
      userId: user.id,
      isSoft: input.flags.has('soft'),
      adminRole: operator,
      ip: operatorClient.ip,
    })
    input.io.stdout.write(`deleted ${toName(user)}\n`)
  },
}

const banuser: AdminVerb = {
  synopsis: 'ID|EMAIL DURATION|none [--aud AUDIENCE]',
  summary: 'keep a user out for a time such as 24h; none lets them in again',
  takes: [2, 2],
  options: ['aud'],
  async run(services, input) {
    const bannedUntil = parseBan(input.positionals[1], services.now())
    const user = await findUser(services, input)
    await updateUserAsAdmin(services, {
      userId: user.id,
      role: undefined,
      email: undefined,
      phone: undefined,
      password: undefined,
      confirmsEmail: false,
      confirmsPhone: false,
      userMetadata: undefined,
      appMetadata: undefined,
      bannedUntil,
      adminRole: operator,
      adminSubject: undefined,
      client: operatorClient,
    })
    const until = bannedUntil ? `banned until ${bannedUntil.toISOString()}` : 'no longer banned'
    input.io.stdout.write(`${toName(user)} is ${until}\n`)
  },
}

const listusers: AdminVerb = {
  synopsis: '[--filter TEXT] [--limit N] [--json] [--aud AUDIENCE]',
  summary: 'the newest users, 50 of them where --limit says nothing; --json: one object a line',
  takes: [0, 0],
  options: ['filter', 'limit', 'json', 'aud'],
  async run({ db }, { texts, flags, audience, io }) {
    const list = { audience, filter: texts.get('filter') ?? '', direction: 'desc' } as const
    const limit = parseCount('limit', texts.get('limit'), 50, 1_000)
    const users: UserRecord[] = []
    let cursor: string | undefined = ''
    // One search reads a bounded number of users; the command goes on until all are searched.
    while (cursor !== undefined && users.length < limit) {
      const slice = await listAfter({ db }, list, { cursor, limit: limit - users.length })
      users.push(...slice.users)
      cursor = slice.nextCursor
    }
    const toLine = flags.has('json') ? JSON.stringify : toRow
    for (const user of users) io.stdout.write(`${toLine(user)}\n`)
    if (cursor !== undefined) io.stderr.write('There are more; --limit shows up to 1000.\n')
  },
}

function toRow({ id, email, phone, role, created_at: since }: UserRecord): string {
  return [id, since, email || phone || '-', role || '-'].join('\t')
}

const revokesessions: AdminVerb = {
  synopsis: 'ID|EMAIL|--all [--aud AUDIENCE]',
  summary: 'sign a user out everywhere, or with --all every user; access tokens end by themselves',
  takes: [0, 1],
  options: ['all', 'aud'],
  async run(services, input) {
    const { io, flags, positionals } = input
    if (flags.has('all') === (positionals.length === 1)) {
      throw new ApiError('validation_failed', 'Name one user, or all with --all.')
    }
    const { ip } = operatorClient
    if (!flags.has('all')) {
      const user = await findUser(services, input)
      const entry = toAdminEntry('token_revoked', operator, { user_id: user.id })
      await logOut(services, { userId: user.id, sessionId: null, scope: 'global', entry, ip })
      io.stdout.write(`${toName(user)} is signed out everywhere\n`)
      return
    }
    const beforeMs = services.now()
    let sum = 0
    let after: string | undefined
    do {
      // A line for every hundred batches or so.
      const endsAt = performance.now() + 5_000
      const ask = { beforeMs, after, adminRole: operator, ip }
      const revoked = await revokeAllSessions(services, ask, () => performance.now() < endsAt)
      sum += revoked.count
      after = revoked.after
      if (after !== undefined) io.stderr.write(`${sum} sessions are revoked so far…\n`)
    } while (after !== undefined)
    io.stdout.write(`revoked ${sum} sessions\n`)
  },
}

/** In the order of the overview. */
export const adminVerbs: Readonly<Record<string, AdminVerb>> = {
  createuser,
  deleteuser,
  banuser,
  listusers,
  revokesessions,
}
