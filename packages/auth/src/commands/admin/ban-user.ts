import { parseBan, updateUserAsAdmin } from '../../features/admin/users.ts'
import { type AdminVerb, findUser, operator, operatorClient, toName } from './verb.ts'

export const banuser: AdminVerb = {
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
