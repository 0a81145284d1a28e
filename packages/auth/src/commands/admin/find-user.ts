import { ApiError } from '../../errors.ts'
import { parseEmail } from '../../features/users/addresses.ts'
import { findUserByEmail, findUserById } from '../../features/users/statements/find-users.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
import type { Services } from '../../services.ts'
import type { AdminInput } from './verb.ts'

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
