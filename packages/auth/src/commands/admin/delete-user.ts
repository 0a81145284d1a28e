import { userNotFound } from '../../core/admin-update-user.ts'
import { toAdminEntry } from '../../core/audit.ts'
import { deleteUser, softDeleteUser } from '../../db/delete-user.ts'
import { findUser, toName } from './find-user.ts'
import type { AdminVerb } from './verb.ts'
import { operator, operatorClient } from './verb.ts'

export const deleteuser: AdminVerb = {
  synopsis: 'ID|EMAIL [--soft] [--aud AUDIENCE]',
  summary: 'delete a user with all that belongs to them; --soft keeps the id alone',
  takes: [1, 1],
  options: ['soft', 'aud'],
  async run(services, input) {
    const user = await findUser(services, input)
    const entry = toAdminEntry('user_deleted', operator, { user_id: user.id })
    const [gone] = await services.db.run(input.flags.has('soft') ? softDeleteUser : deleteUser, [
      user.id,
      entry.id,
      entry.payload,
      operatorClient.ip,
      new Date(services.now()),
    ])
    if (gone === undefined) throw userNotFound()
    input.io.stdout.write(`deleted ${toName(user)}\n`)
  },
}
