import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { findUserById } from './statements/find-users.ts'
import type { UserRow } from './statements/user-row.ts'

/** @throws {ApiError} */
export async function getUser({ db }: Pick<Services, 'db'>, userId: string): Promise<UserRow> {
  const [user] = await db.run(findUserById, { id: userId })
  if (user === undefined) throw userNotFound()
  return user
}

export function userNotFound(): ApiError {
  return new ApiError('user_not_found', 'User not found')
}
