import { useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { showFailure } from '../../../components/toasts.tsx'
import { formatNumber } from '../../../format.ts'
import { readUsers } from '../read-users.ts'
import type { Search } from '../search.ts'

/** The users that are marked for an action. */
export interface Selection {
  readonly users: readonly User[]
  has(id: string): boolean
  toggle(user: User): void
  /** Adds users; those beyond the limit are left out, with a message. */
  add(users: readonly User[]): void
  set(users: readonly User[]): void
}

/** An action needs at least one request for each user, so this limits its duration. */
export const mostSelected = 1_000

export function useSelection(): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, User>>(new Map())
  const set = (users: readonly User[]) => {
    const unique = [...new Map(users.map((user) => [user.id, user]))]
    if (unique.length > mostSelected) {
      showFailure(
        new Error(`At most ${formatNumber(mostSelected)} users can be selected at the same time.`),
      )
    }
    setSelected(new Map(unique.slice(0, mostSelected)))
  }
  const users = [...selected.values()]
  return {
    users,
    has: (id) => selected.has(id),
    toggle: (user) =>
      set(selected.has(user.id) ? users.filter(({ id }) => id !== user.id) : [...users, user]),
    add: (more) => set([...users, ...more]),
    set,
  }
}

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
