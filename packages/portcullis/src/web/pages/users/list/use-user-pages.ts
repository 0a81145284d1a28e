import { useEffect, useReducer, useState } from 'preact/hooks'
import type { Search } from '../use-users-address.ts'
import { loadUsers } from './load-users.ts'
import { createUserPages, type UserPages } from './user-pages.ts'

export interface ShownPages {
  /** Those of the search before, until the first of this one have arrived. Undefined: none yet. */
  readonly pages: UserPages | undefined
  readonly isBusy: boolean
}

const firstRows = { first: 0, end: 30 }

export function useUserPages(search: Search): ShownPages {
  const { text, order } = search
  const [shown, setShown] = useState<{ readonly pages: UserPages; readonly of: string }>()
  const [, redraw] = useReducer<number, undefined>((count) => count + 1, 0)
  const of = `${order} ${text}`
  useEffect(() => {
    const pages = createUserPages({
      load: (page, signal) => loadUsers({ text, order }, page, signal),
      onChange() {
        setShown((before) => (before?.pages === pages ? before : { pages, of }))
        redraw(undefined)
      },
    })
    pages.show(firstRows)
    return () => pages.close()
  }, [of])
  return { pages: shown?.pages, isBusy: shown?.of !== of }
}
