import { type AdminClient, AdminFailure } from '../admin/client.ts'
import type { AdminInput, AdminVerb } from '../admin/verb.ts'
import type { UserRecord } from './user-text.ts'

export type UsersOption = 'limit' | 'auth-url' | 'dry-run' | 'csv' | 'soft' | 'yes'

export type UsersInput = AdminInput<UsersOption>

/** A verb of `portcullis users`. */
export type UsersVerb = AdminVerb<UsersOption>

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

interface UserSlice {
  readonly users: readonly UserRecord[]
  readonly pagination?: { readonly next_cursor?: string }
}

/** The most users that one request can return. */
export const mostListed = 1_000

/** One request searches a bounded number of users, so there may be several slices, and empty ones. */
export async function* listSlices(
  client: AdminClient,
  filter: string,
  limit: number,
): AsyncGenerator<readonly UserRecord[], void> {
  let cursor: string | undefined = ''
  while (cursor !== undefined) {
    const query = { limit: `${limit}`, ...(filter && { filter }), ...(cursor && { cursor }) }
    const slice = (await client.get('/admin/users', query)) as UserSlice | undefined
    if (!Array.isArray(slice?.users)) {
      throw new AdminFailure(
        'The server has no endpoint /admin/users. Check that it is an auth server.',
      )
    }
    yield slice.users
    cursor = slice.pagination?.next_cursor
  }
}

/** Finds a user by id, email address or phone number. @throws {AdminFailure} */
export async function getUser(client: AdminClient, name: string): Promise<UserRecord> {
  if (uuid.test(name)) {
    const user = await client.get(`/admin/users/${name.toLowerCase()}`)
    if (user !== undefined) return user as UserRecord
  } else {
    const wanted = name.toLowerCase()
    const phone = name.replace(/^\+/, '')
    for await (const users of listSlices(client, name.replace(/^\+/, ''), 100)) {
      const found = users.find((user) => user.email === wanted || user.phone === phone)
      if (found !== undefined) return found
    }
  }
  throw new AdminFailure(
    `There is no user ${name}. To search for parts of an address or a name: portcullis users find TEXT`,
  )
}
