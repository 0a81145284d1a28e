import process from 'node:process'
import { text } from 'node:stream/consumers'
import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import type { CommandIo } from '@portcullis/service-kit/cli/command'
import type { VerbWithOperands } from '@portcullis/service-kit/cli/verbs'
import { parseDuration } from '@portcullis/service-kit/settings/duration'
import { toCountText } from '@portcullis/service-kit/text/format'
import { parseEmail } from '../../addresses.ts'
import { ApiError } from '../../errors.ts'
import { createUserAsAdmin } from '../../features/admin/create-user.ts'
import { listAfter } from '../../features/admin/list-users.ts'
import { parseBan, removeUser, updateUserAsAdmin } from '../../features/admin/users.ts'
import { toAdminEntry } from '../../features/audit/audit.ts'
import { logOut, revokeAllSessions } from '../../features/sessions/session-list.ts'
import {
  findUserByEmail,
  findUserById,
  type UserRow,
} from '../../features/users/statements/user-row.ts'
import type { UserRecord } from '../../features/users/user-record.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'

/** A verb of `auth admin`. */
export interface AdminVerb extends VerbWithOperands {
  /** The options of this verb, in addition to the common ones. */
  readonly options: readonly AdminOption[]
  /** Returns the reason if the values of the arguments are invalid. */
  findFault?(input: AdminArguments): string | undefined
  /** @throws {ApiError} with the reason if the operation fails. */
  run(services: Services, input: AdminInput): Promise<void>
}

export type AdminOption = 'confirm' | 'admin' | 'soft' | 'json' | 'aud' | 'filter' | 'limit' | 'all'

export interface AdminArguments {
  readonly positionals: readonly string[]
  readonly flags: ReadonlySet<AdminOption>
  readonly texts: ReadonlyMap<AdminOption, string>
}

export interface AdminInput extends AdminArguments {
  /** The audience whose users are selected. */
  readonly audience: string
  readonly io: CommandIo
}

/** The actor in the audit log: an operator with access to the server's machine. */
const operator = 'auth admin'

const operatorClient = { ip: '', userAgent: '' } as const

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Finds the user named by the first argument, an id or an email address. @throws {ApiError} */
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

/** Formats a user for the output. */
function toName({ id, email, phone }: Pick<UserRow, 'id' | 'email' | 'phone'>): string {
  const address = email || phone
  return address ? `${id} (${address})` : id
}

const createuser: AdminVerb = {
  synopsis: 'EMAIL PASSWORD [ROLE] [--confirm] [--admin] [--aud AUDIENCE]',
  summary:
    'create a user without sending a message; if PASSWORD is -, it is read from\nstandard input',
  takes: [2, 3],
  options: ['confirm', 'admin', 'aud'],
  async run(services, { positionals, flags, audience, io }) {
    const [email = '', given = '', namedRole] = positionals
    const { tokens, mail } = services.config
    const password = given === '-' ? await readPassword() : given
    await checkPassword(password, services.passwordPolicy)
    if (audience !== tokens.audience && !tokens.allowedAudiences.includes(audience)) {
      throw new ApiError(
        'validation_failed',
        `The audience ${JSON.stringify(audience)} is not allowed: use that of AUTH_JWT_AUD, or add it to AUTH_JWT_ALLOWED_AUDIENCES.`,
      )
    }
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
      io.stderr.write(
        'The email address is not confirmed, so the user cannot sign in with it yet. To confirm it, send ' +
          `{"email_confirm": true} to PUT /admin/users/${user.id}; next time, use --confirm.\n`,
      )
    }
    if (flags.has('admin') && !tokens.adminRoles.includes(role ?? '')) {
      io.stderr.write(
        `The role ${role} cannot use the admin endpoints because AUTH_JWT_ADMIN_ROLES does not include it. Add it there.\n`,
      )
    }
  },
}

/** Other users of the machine can see arguments, but not standard input. */
async function readPassword(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

const deleteuser: AdminVerb = {
  synopsis: 'ID|EMAIL [--soft] [--aud AUDIENCE]',
  summary: 'delete a user and all their data; --soft keeps only the id',
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
  summary: 'ban a user for a duration such as 24h; none lifts the ban',
  takes: [2, 2],
  options: ['aud'],
  findFault({ positionals: [, duration = ''] }) {
    if (duration === 'none' || parseDuration(duration) !== undefined) return undefined
    return toValueFault('DURATION', 'a duration such as 24h, or none', duration)
  },
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

const mostListed = 1_000

function isLimit(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= mostListed
}

const listusers: AdminVerb = {
  synopsis: '[--filter TEXT] [--limit N] [--json] [--aud AUDIENCE]',
  summary: 'list the newest users',
  takes: [0, 0],
  options: ['filter', 'limit', 'json', 'aud'],
  findFault({ texts }) {
    const limit = texts.get('limit')
    if (limit === undefined || isLimit(Number(limit))) return undefined
    return toValueFault('--limit', `a whole number from 1 to ${mostListed}`, limit)
  },
  async run({ db }, { texts, flags, audience, io }) {
    const list = { audience, filter: texts.get('filter') ?? '', direction: 'desc' } as const
    const limit = Number(texts.get('limit') ?? 50)
    const users: UserRecord[] = []
    let cursor: string | undefined = ''
    // One query searches a bounded number of users, so it is repeated until all are searched.
    while (cursor !== undefined && users.length < limit) {
      const slice = await listAfter({ db }, list, { cursor, limit: limit - users.length })
      users.push(...slice.users)
      cursor = slice.nextCursor
    }
    const toLine = flags.has('json') ? JSON.stringify : toRow
    for (const user of users) io.stdout.write(`${toLine(user)}\n`)
    if (cursor !== undefined)
      io.stderr.write(`There are more users; --limit can show up to ${mostListed}.\n`)
  },
}

function toRow({ id, email, phone, role, created_at: since }: UserRecord): string {
  return [id, since, email || phone || '-', role || '-'].join('\t')
}

const revokesessions: AdminVerb = {
  synopsis: 'ID|EMAIL|--all [--aud AUDIENCE]',
  summary:
    'end all sessions of a user, or with --all those of all users; access\ntokens stay valid until they expire',
  takes: [0, 1],
  options: ['all', 'aud'],
  findFault({ flags, texts, positionals }) {
    if (flags.has('all') === (positionals.length === 1)) {
      return 'Name one user, or use --all, but not both.'
    }
    if (!flags.has('all') || !texts.has('aud')) return undefined
    return '--all signs out the users of all audiences, so it cannot be used with --aud.'
  },
  async run(services, input) {
    const { io, flags } = input
    const { ip } = operatorClient
    if (!flags.has('all')) {
      const user = await findUser(services, input)
      const entry = toAdminEntry('token_revoked', operator, { user_id: user.id })
      await logOut(services, { userId: user.id, sessionId: null, scope: 'global', entry, ip })
      io.stdout.write(`${toName(user)} is signed out of all sessions\n`)
      return
    }
    const beforeMs = services.now()
    let sum = 0
    let after: string | undefined
    do {
      // Each call takes about five seconds, so that progress is reported in between.
      const endsAt = performance.now() + 5_000
      const request = { beforeMs, after, adminRole: operator, ip }
      const revoked = await revokeAllSessions(services, request, () => performance.now() < endsAt)
      sum += revoked.count
      after = revoked.after
      if (after !== undefined) io.stderr.write(`${toCountText(sum, 'session')} revoked so far…\n`)
    } while (after !== undefined)
    io.stdout.write(`revoked ${toCountText(sum, 'session')}\n`)
  },
}

/** The order in which help lists the verbs. */
export const adminVerbs: Readonly<Record<string, AdminVerb>> = {
  createuser,
  deleteuser,
  banuser,
  listusers,
  revokesessions,
}
