import type { Services } from '../../services.ts'
import { toAdminEntry } from '../audit/audit.ts'
import { deleteUser, softDeleteUser } from './statements/delete-user.ts'
import { userNotFound } from './update-user.ts'

export interface UserDeletion {
  readonly userId: string
  /** Keeps the id alone. */
  readonly isSoft: boolean
  readonly adminRole: string
  readonly ip: string
}

/** Reference 3.21. @throws {ApiError} */
export async function removeUser({ db, now }: Services, deletion: UserDeletion): Promise<void> {
  const { userId, isSoft, adminRole, ip } = deletion
  // Neither address nor number: the log must not tell who was deleted.
  const entry = toAdminEntry('user_deleted', adminRole, { user_id: userId })
  const statement = isSoft ? softDeleteUser : deleteUser
  const [gone] = await db.run(statement, [userId, entry.id, entry.payload, ip, new Date(now())])
  if (gone === undefined) throw userNotFound()
}
