import type { User } from '../../../../console/routes/users-records.ts'
import { ApiError, callApi, callApiWithHeaders } from '../../../api.ts'
import type { Search } from '../use-users-address.ts'
import { pageSize, type UserPage } from './user-pages.ts'

const uuidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** @param page from 0. */
export async function loadUsers(
  { text, order }: Search,
  page: number,
  signal: AbortSignal,
): Promise<UserPage> {
  // The auth server searches addresses and names; who has an id at hand wants that one user.
  if (uuidPattern.test(text)) return loadById(text, signal)
  const query = new URLSearchParams({
    page: `${page + 1}`,
    per_page: `${pageSize}`,
    ...(text !== '' && { filter: text }),
    ...(order === 'oldest' && { sort: 'created_at asc' }),
  })
  const { body, headers } = await callApiWithHeaders<{ readonly users: readonly User[] }>(
    `/api/users?${query}`,
    { signal },
  )
  return { users: body.users, total: Number(headers.get('x-total-count') ?? body.users.length) }
}

async function loadById(id: string, signal: AbortSignal): Promise<UserPage> {
  try {
    return { users: [await callApi<User>(`/api/users/${id}`, { signal })], total: 1 }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { users: [], total: 0 }
    throw error
  }
}
