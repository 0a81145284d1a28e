import type { Grant } from '../../console/routes/users-upstream.ts'
import { type AdminClient, AdminFailure } from '../admin/client.ts'
import { printItem, printList } from '../admin/output.ts'
import { toSafe, toTime } from '../admin/text.ts'
import { createClient, requireConsent } from '../admin/verb.ts'
import { toName, type UserRecord } from './user-text.ts'
import { getUser, type UsersVerb } from './verb.ts'

export const grantsVerb: UsersVerb = {
  synopsis: 'USER [--auth-url URL]',
  summary: 'list the applications to which a user has granted access',
  takes: [1, 1],
  options: ['auth-url'],
  operands: 'any',
  async run(input) {
    const client = createClient(input)
    const user = await getUser(client, input.positionals[0] ?? '')
    printList(input, await listGrants(client, user), {
      headings: ['CLIENT', 'NAME', 'SCOPES', 'GRANTED (UTC)'],
      toRow: (grant) => [
        toSafe(grant.client.id),
        toSafe(grant.client.name ?? '-'),
        toSafe([...grant.scopes, ...grant.resources].join(' ') || '-'),
        toTime(grant.granted_at),
      ],
      none: `${toName(user)} has not granted access to any application.`,
    })
  },
}

export const revokeGrant: UsersVerb = {
  synopsis: 'USER CLIENT [--yes] [--auth-url URL]',
  summary: 'revoke what a user has granted to an application; CLIENT is its id or name',
  takes: [2, 2],
  options: ['yes', 'auth-url'],
  operands: 'any',
  async run(input) {
    const [name = '', wanted = ''] = input.positionals
    const client = createClient(input)
    const user = await getUser(client, name)
    const grants = await listGrants(client, user)
    const grant = grants.find(({ client: { id, name: own } }) => id === wanted || own === wanted)
    if (grant === undefined) {
      throw new AdminFailure(
        `${toName(user)} has not granted access to ${wanted}. To list all: portcullis users grants ${name}`,
      )
    }
    const application = toSafe(grant.client.name ?? grant.client.id)
    await requireConsent(
      input,
      `Revoke the access of ${application} to ${toName(user)}? Its sessions for this user end.`,
    )
    const query = new URLSearchParams({ client_id: grant.client.id })
    await client.delete(`/admin/users/${user.id}/oauth/grants?${query}`)
    printItem(input, grant, `${application} no longer has access to ${toName(user)}`)
  },
}

/** @throws {AdminFailure} if the server cannot list them. */
async function listGrants(client: AdminClient, { id }: UserRecord): Promise<readonly Grant[]> {
  const grants = await client.get(`/admin/users/${id}/oauth/grants`)
  if (Array.isArray(grants)) return grants
  throw new AdminFailure(
    'This server does not list the grants of users. Supabase Auth has no endpoint for it.',
  )
}
