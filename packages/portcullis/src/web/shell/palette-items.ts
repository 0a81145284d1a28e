import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { RuleBook } from '../../console/routes/limits.ts'
import type { User } from '../../console/routes/users-upstream.ts'
import { listActions } from '../actions.ts'
import { callApi, callApiWithHeaders, toMessage } from '../api.ts'
import type { IconName } from '../components/icons.tsx'
import { pages } from '../pages/index.ts'
import { toEditorHref } from '../pages/limits/place.ts'
import { type RuleRow, toDomainRows, toRuleLabel } from '../pages/limits/rules/rule-rows.ts'
import { useSession } from '../session.ts'
import { useLoaded } from '../use-loaded.ts'

export interface PaletteItem {
  /** Unique in the palette, and the same while more results arrive. */
  readonly id: string
  readonly icon: IconName
  readonly title: string
  readonly detail?: string
  readonly run: () => unknown
}

export interface PaletteGroup {
  readonly title: string
  readonly items: readonly PaletteItem[]
}

export interface PaletteResults {
  readonly groups: readonly PaletteGroup[]
  readonly isSearching: boolean
  /** Why users or rules are missing from the results. */
  readonly faults: readonly string[]
}

const mostResults = 8

/** Finds pages, actions, users and rules. Without a text, all pages and actions are listed. */
export function usePaletteResults(text: string): PaletteResults {
  const { route } = useLocation()
  const { parts } = useSession()
  const [actions] = useState(listActions)
  const search = text.trim()
  const words = search.toLowerCase().split(/\s+/)
  const isFound = (found: string) => words.every((word) => found.toLowerCase().includes(word))
  const users = useFoundUsers(parts.auth ? search : '')
  const rules = useFoundRules(search)
  const groups: readonly PaletteGroup[] = [
    {
      title: 'Pages',
      items: pages
        .filter(({ title, words: others = '' }) => isFound(`${title} ${others}`))
        .map(({ path, title, icon }) => ({
          id: `page ${path}`,
          icon,
          title,
          run: () => route(path),
        })),
    },
    {
      title: 'Actions',
      items: actions
        .filter(({ label, words: others = '' }) => isFound(`${label} ${others}`))
        .map(({ label, icon, run }) => ({ id: `action ${label}`, icon, title: label, run })),
    },
    {
      title: 'Users',
      items: [
        ...users.found.map((user) => toUserItem(user, route)),
        ...(users.total > users.found.length
          ? [
              {
                id: 'users all',
                icon: 'search' as const,
                title: `Show all ${users.total} users that match`,
                run: () => route(`/users?${new URLSearchParams({ q: search })}`),
              },
            ]
          : []),
      ],
    },
    { title: 'Rules', items: rules.found.map((row) => toRuleItem(row, route)) },
  ]
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    isSearching: users.isSearching || rules.isSearching,
    faults: [users.fault, rules.fault].filter((fault) => fault !== undefined),
  }
}

type Route = (href: string) => void

function toUserItem(user: User, route: Route): PaletteItem {
  const { id, email, phone, user_metadata: metadata } = user
  const name = typeof metadata['name'] === 'string' ? metadata['name'] : ''
  const [title = '', ...others] = [email, phone, name, id].filter(Boolean)
  return {
    id: `user ${id}`,
    icon: 'users',
    title,
    detail: others[0] ?? '',
    run: () => route(`/users?${new URLSearchParams({ id })}`),
  }
}

function toUserText({ id, email, phone, user_metadata: metadata }: User): string {
  return [id, email, phone, metadata['name']].join(' ').toLowerCase()
}

function toRuleItem({ rule, domain, levels }: RuleRow, route: Route): PaletteItem {
  const { place, limitText } = rule
  const href = place === undefined ? '/limits' : toEditorHref(place.file, place.line)
  const title = levels.map(toRuleLabel).join(' › ')
  return {
    id: `rule ${domain} ${place?.file} ${place?.line} ${title}`,
    icon: 'limits',
    title,
    detail: `${domain}, ${limitText}`,
    run: () => route(href),
  }
}

interface FoundUsers {
  readonly found: readonly User[]
  /** The number of all users that match. */
  readonly total: number
  readonly isSearching: boolean
  readonly fault?: string
}

const noUsers: FoundUsers = { found: [], total: 0, isSearching: false }
const pauseMs = 150

/** Searches on the server after a pause in typing. A newer search cancels an older one. */
function useFoundUsers(search: string): FoundUsers {
  const [result, setResult] = useState(noUsers)
  useEffect(() => {
    if (search === '') return setResult(noUsers)
    // Keep only the previous results that match the new text, so that Enter cannot open another user.
    setResult(({ found }) => {
      const stay = found.filter((user) => toUserText(user).includes(search.toLowerCase()))
      return { found: stay, total: stay.length, isSearching: true }
    })
    const leaving = new AbortController()
    const searchNow = async () => {
      try {
        setResult(await findUsers(search, leaving.signal))
      } catch (error) {
        const fault = `Users could not be searched: ${toMessage(error)}`
        if (!leaving.signal.aborted) setResult({ ...noUsers, fault })
      }
    }
    const timer = setTimeout(() => void searchNow(), pauseMs)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [search])
  return result
}

const uuidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

async function findUsers(search: string, signal: AbortSignal): Promise<FoundUsers> {
  if (uuidPattern.test(search)) {
    const user = await callApi<User>(`/api/users/${search}`, { signal })
    return { found: [user], total: 1, isSearching: false }
  }
  const query = new URLSearchParams({ filter: search, per_page: `${mostResults}` })
  const { body, headers } = await callApiWithHeaders<{ readonly users: readonly User[] }>(
    `/api/users?${query}`,
    { signal },
  )
  const found = body.users.slice(0, mostResults)
  return { found, total: Number(headers.get('x-total-count') ?? found.length), isSearching: false }
}

interface FoundRules {
  readonly found: readonly RuleRow[]
  readonly isSearching: boolean
  readonly fault?: string
}

/** Loads the rules once, when the user starts to type. */
function useFoundRules(search: string): FoundRules {
  const { ratelimit } = useSession().parts
  const isWanted = ratelimit !== undefined && search !== ''
  const book = useLoaded(
    async (signal) =>
      isWanted ? await callApi<RuleBook>('/api/limits/rules', { signal }) : undefined,
    [isWanted],
  )
  const value = book.state === 'ready' ? book.value : undefined
  const found = useMemo(() => {
    if (value === undefined || search === '') return []
    return toDomainRows(value, search)
      .flatMap(({ rows }) => rows)
      .filter(({ rule }) => rule.limit !== undefined)
      .slice(0, mostResults)
  }, [value, search])
  if (!isWanted) return { found, isSearching: false }
  if (book.state === 'failed') {
    return {
      found,
      isSearching: false,
      fault: `Rules could not be searched: ${toMessage(book.error)}`,
    }
  }
  return { found, isSearching: value === undefined }
}
