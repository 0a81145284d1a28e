import { removeUser } from '../../features/admin/users.ts'
import { type AdminVerb, findUser, operator, operatorClient, toName } from './verb.ts'

export const deleteuser: AdminVerb = {
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
