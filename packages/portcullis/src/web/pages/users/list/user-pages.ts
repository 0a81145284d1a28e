import { useEffect, useReducer, useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { callApiWithHeaders } from '../../../api.ts'
import { isIdSearch, readById } from '../read-users.ts'
import { type Search, toListQuery } from '../search.ts'
import type { RowRange } from './list-window.ts'

export interface UserPage {
  readonly users: readonly User[]
  /** The number of users on all pages. */
  readonly total: number
}

interface UserPagesOptions {
  /** @param page Starts at 0. */
  readonly load: (page: number, signal: AbortSignal) => Promise<UserPage>
  /** Called when a page has arrived or failed. */
  readonly onChange: () => void
}

/** All users that match a search; only the visible ones are loaded. */
export interface UserPages {
  /** Undefined before the first response. */
  readonly total: number | undefined
  /** Why the last request failed; undefined after the next success. */
  readonly error: unknown
  /** Undefined if not loaded yet. */
  at(index: number): User | undefined
  /** Sets the visible rows. Requests for other rows are aborted. */
  show(rows: RowRange): void
  /** Reloads the visible rows; the old data stays until then. */
  reload(): void
  /** Replaces a user that was changed on this page. */
  replace(user: User): void
  close(): void
}

const pageSize = 50

const pauseMs = 60
/** While the scroll bar is dragged, rows are loaded only after it has stopped for this long. */
const restMs = 100
/** Rows loaded ahead on either side, so that slow scrolling shows no gaps. */
const rowsAhead = 25
const mostKeptPages = 80

export function createUserPages({ load, onChange }: UserPagesOptions): UserPages {
  const pages = new Map<number, readonly User[]>()
  const outdated = new Set<number>()
  const underway = new Map<number, AbortController>()
  let wanted: readonly number[] = []
  let shown: RowRange = { first: 0, end: 0 }
  let lastLeapAt = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastFetchAt = Number.NEGATIVE_INFINITY
  let total: number | undefined
  let error: unknown

  const fetchPage = async (page: number) => {
    const leaving = new AbortController()
    underway.set(page, leaving)
    try {
      const answer = await load(page, leaving.signal)
      if (leaving.signal.aborted) return
      total = answer.total
      error = undefined
      outdated.delete(page)
      keep(page, answer.users)
    } catch (reason) {
      if (leaving.signal.aborted) return
      error = reason
    }
    underway.delete(page)
    onChange()
  }

  const keep = (page: number, users: readonly User[]) => {
    pages.delete(page)
    pages.set(page, users)
    // A map iterates in insertion order, so the oldest pages come first.
    for (const old of pages.keys()) {
      if (pages.size <= mostKeptPages) break
      if (!wanted.includes(old)) pages.delete(old)
    }
  }

  const fetchWanted = () => {
    timer = undefined
    lastFetchAt = performance.now()
    for (const page of wanted) {
      const isThere = pages.has(page) && !outdated.has(page)
      if (!isThere && !underway.has(page)) void fetchPage(page)
    }
  }

  const schedule = () => {
    const sinceLastMs = performance.now() - lastFetchAt
    timer ??= setTimeout(fetchWanted, Math.max(0, pauseMs - sinceLastMs))
  }

  return {
    get total() {
      return total
    },
    get error() {
      return error
    },
    at: (index) => pages.get(Math.floor(index / pageSize))?.[index % pageSize],
    show(rows) {
      const { first, end } = rows
      const isLeap = first >= shown.end || end <= shown.first
      shown = rows
      wanted = toPageNumbers(first - rowsAhead, Math.min(end + rowsAhead, total ?? end))
      for (const [page, leaving] of underway) {
        if (wanted.includes(page)) continue
        leaving.abort()
        underway.delete(page)
      }
      if (!isLeap) return schedule()
      const isMoving = performance.now() - lastLeapAt < restMs
      lastLeapAt = performance.now()
      if (!isMoving) return schedule()
      clearTimeout(timer)
      timer = setTimeout(fetchWanted, restMs)
    },
    reload() {
      for (const page of pages.keys()) outdated.add(page)
      error = undefined
      schedule()
    },
    replace(user) {
      for (const [page, users] of pages) {
        if (!users.some(({ id }) => id === user.id)) continue
        pages.set(
          page,
          users.map((each) => (each.id === user.id ? user : each)),
        )
        onChange()
      }
    },
    close() {
      clearTimeout(timer)
      for (const leaving of underway.values()) leaving.abort()
      underway.clear()
    },
  }
}

function toPageNumbers(first: number, end: number): readonly number[] {
  const from = Math.floor(Math.max(0, first) / pageSize)
  const to = Math.floor(Math.max(0, end - 1) / pageSize)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

interface ShownPages {
  /** The pages of the previous search until the first page of the new one has arrived; undefined at first. */
  readonly pages: UserPages | undefined
  readonly isBusy: boolean
}

const firstRows = { first: 0, end: 30 }

export function useUserPages(search: Search): ShownPages {
  const [shown, setShown] = useState<{ readonly pages: UserPages; readonly of: string }>()
  const [, redraw] = useReducer<number, undefined>((count) => count + 1, 0)
  const of = JSON.stringify(search)
  useEffect(() => {
    const pages = createUserPages({
      load: (page, signal) => loadUsers(search, page, signal),
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

/** @param page Starts at 0. */
async function loadUsers(search: Search, page: number, signal: AbortSignal): Promise<UserPage> {
  if (isIdSearch(search)) {
    const users = await readById(search.text, signal)
    return { users, total: users.length }
  }
  const query = new URLSearchParams({
    page: `${page + 1}`,
    per_page: `${pageSize}`,
    ...toListQuery(search),
  })
  const { body, headers } = await callApiWithHeaders<{ readonly users: readonly User[] }>(
    `/api/users?${query}`,
    { signal },
  )
  return { users: body.users, total: Number(headers.get('x-total-count') ?? body.users.length) }
}
