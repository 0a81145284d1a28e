import type { User } from '../../../../console/routes/users-upstream.ts'
import { readUsers } from '../read-users.ts'
import type { Search } from '../search.ts'
import { mostSelected } from './selection.ts'

/** Reads the users of a search, up to the first one beyond the limit of a selection. */
export async function readSelectable(
  search: Search,
  signal: AbortSignal,
): Promise<readonly User[]> {
  const found: User[] = []
  for await (const users of readUsers(search, signal)) {
    found.push(...users)
    if (found.length > mostSelected) break
  }
  return found.slice(0, mostSelected + 1)
}
