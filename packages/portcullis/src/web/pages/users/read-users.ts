import type { User } from '../../../console/routes/users-upstream.ts'
import { callApi, isNotFound } from '../../api.ts'
import { type Search, toListQuery } from './search.ts'

const uuidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether the search is for one ID, which every auth server can look up directly. */
export function isIdSearch({ text }: Search): boolean {
  return uuidPattern.test(text)
}

/** Returns the user with the ID, or no user. */
export async function readById(id: string, signal: AbortSignal): Promise<readonly User[]> {
  try {
    return [await callApi<User>(`/api/users/${id}`, { signal })]
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

interface Slice {
  readonly users: readonly User[]
  /** Missing if the auth server has no cursors. */
  readonly pagination?: { readonly next_cursor?: string }
}

const sliceSize = 1_000

/** Reads all users of a search in slices. A user who is created or deleted meanwhile shifts no other user. */
export async function* readUsers(
  search: Search,
  signal: AbortSignal,
): AsyncGenerator<readonly User[], void> {
  if (isIdSearch(search)) {
    yield await readById(search.text, signal)
    return
  }
  let cursor = ''
  for (let page = 1; ; page++) {
    const query = new URLSearchParams({
      ...toListQuery(search),
      limit: `${sliceSize}`,
      ...(cursor !== '' && { cursor }),
      // For servers without cursors.
      page: `${page}`,
      per_page: `${sliceSize}`,
    })
    const { users, pagination } = await callApi<Slice>(`/api/users?${query}`, { signal })
    yield users
    cursor = pagination?.next_cursor ?? ''
    if (pagination ? cursor === '' : users.length < sliceSize) return
  }
}
