import type { CommandIo } from '@portcullis/service-kit/cli/command'
import type { VerbWithOperands } from '@portcullis/service-kit/cli/verbs'
import type { ValueKind } from '../../completion/command-tree.ts'
import { type AdminClient, AdminFailure, createAdminClient } from '../admin-client.ts'
import type { UserRecord } from './user-text.ts'

export type UsersOption =
  | 'limit'
  | 'auth-url'
  | 'data'
  | 'json'
  | 'dry-run'
  | 'csv'
  | 'soft'
  | 'yes'

export interface UsersInput {
  readonly positionals: readonly string[]
  readonly values: Readonly<Partial<Record<UsersOption, string | boolean>>>
  readonly io: CommandIo
}

/** A verb of `portcullis users`. */
export interface UsersVerb extends VerbWithOperands {
  /** The options of this verb, in addition to `--data` and `--json`. */
  readonly options: readonly UsersOption[]
  readonly operands: ValueKind
  /** Returns the reason if the values of the arguments are invalid. */
  findFault?(input: Pick<UsersInput, 'positionals' | 'values'>): string | undefined
  /** @throws {AdminFailure} */
  run(input: UsersInput): Promise<void>
}

export function createClient({ values, io }: UsersInput): AdminClient {
  const { 'auth-url': authUrl, data } = values
  return createAdminClient({ authUrl: toText(authUrl), data: toText(data), env: io.env })
}

function toText(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

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
