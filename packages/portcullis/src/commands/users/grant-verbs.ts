import type { Grant } from '../../console/routes/users-upstream.ts'
import { type AdminClient, AdminFailure } from '../admin/client.ts'
import { createPaint, toSafe, toTable, toTime } from '../admin/text.ts'
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
    const { positionals, values, io } = input
    const client = createClient(input)
    const user = await getUser(client, positionals[0] ?? '')
    const grants = await listGrants(client, user)
    if (values.json) for (const grant of grants) io.stdout.write(`${JSON.stringify(grant)}\n`)
    else if (grants.length === 0) {
      io.stderr.write(`${toName(user)} has not granted access to any application.\n`)
    } else {
      const rows = grants.map((grant) => [
        toSafe(grant.client.id),
        toSafe(grant.client.name ?? '-'),
        toSafe([...grant.scopes, ...grant.resources].join(' ') || '-'),
        toTime(grant.granted_at),
      ])
      const headings = ['CLIENT', 'NAME', 'SCOPES', 'GRANTED (UTC)']
      io.stdout.write(toTable(headings, rows, createPaint(io)))
    }
  },
}

export const revokeGrant: UsersVerb = {
  synopsis: 'USER CLIENT [--yes] [--auth-url URL]',
  summary: 'revoke what a user has granted to an application; CLIENT is its id or name',
  takes: [2, 2],
  options: ['yes', 'auth-url'],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const [name = '', wanted = ''] = positionals
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
    const text = `${application} no longer has access to ${toName(user)}\n`
    io.stdout.write(values.json ? `${JSON.stringify(grant)}\n` : text)
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
