import type { CommandIo } from '@portcullis/service-kit/command'
import { ApiError } from '../../errors.ts'
import { parseEmail } from '../../features/users/addresses.ts'
import { findUserByEmail, findUserById } from '../../features/users/statements/find-users.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
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
export const operator = 'auth admin'

export const operatorClient = { ip: '', userAgent: '' } as const

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The user that the first argument names, by id or by address. @throws {ApiError} */
export async function findUser(
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
export function toName({ id, email, phone }: Pick<UserRow, 'id' | 'email' | 'phone'>): string {
  const reach = email || phone
  return reach ? `${id} (${reach})` : id
}
