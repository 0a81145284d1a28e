import { AdminFailure } from '../admin/client.ts'
import { printItem } from '../admin/output.ts'
import { toSafe } from '../admin/text.ts'
import { createClient, requireConsent } from '../admin/verb.ts'
import { type FactorRecord, toName, type UserRecord } from './user-text.ts'
import { getUser, type UsersVerb } from './verb.ts'

export const deleteVerb: UsersVerb = {
  synopsis: 'USER [--soft] [--yes] [--auth-url URL]',
  summary: 'delete a user and all their data',
  takes: [1, 1],
  options: ['soft', 'yes', 'auth-url'],
  operands: 'any',
  async run(input) {
    const { positionals, values } = input
    const isSoft = values.soft === true
    const client = createClient(input)
    const user = await getUser(client, positionals[0] ?? '')
    const content = isSoft ? 'their personal data' : 'all their data'
    await requireConsent(input, `Delete ${toName(user)} and ${content}? This cannot be undone.`)
    const answer = await client.delete(`/admin/users/${user.id}`, { should_soft_delete: isSoft })
    if (answer === undefined) throw noLongerThere(user)
    const text = isSoft ? 'was deleted; the id is kept' : 'was deleted'
    printItem(input, user, `${toName(user)} ${text}`)
  },
}

export const resetFactors: UsersVerb = {
  synopsis: 'USER [--yes] [--auth-url URL]',
  summary: 'remove all second factors of a user, who can then sign in without them',
  takes: [1, 1],
  options: ['yes', 'auth-url'],
  operands: 'any',
  async run(input) {
    const { positionals } = input
    const client = createClient(input)
    const user = await getUser(client, positionals[0] ?? '')
    const factors = (await client.get(`/admin/users/${user.id}/factors`)) as
      | readonly FactorRecord[]
      | undefined
    if (factors === undefined) throw noLongerThere(user)
    if (factors.length > 0) {
      await requireConsent(
        input,
        `Remove the second factors of ${toName(user)} (${toList(factors)})? This cannot be undone.`,
      )
    }
    for (const { id } of factors) {
      // A factor that was removed in the meantime is not an error.
      await client.delete(`/admin/users/${user.id}/factors/${id}`)
    }
    const text =
      factors.length === 0
        ? 'has no second factors'
        : `no longer has second factors: removed ${toList(factors)}`
    printItem(input, { id: user.id, removed: factors }, `${toName(user)} ${text}`)
  },
}

function toList(factors: readonly FactorRecord[]): string {
  return toSafe(factors.map(({ factor_type: type, status }) => `${type} (${status})`).join(', '))
}

export function noLongerThere({ id }: UserRecord): AdminFailure {
  return new AdminFailure(`There is no user ${id}.`)
}
