import type { ScriptName } from './load/scripts.ts'
import { createdApartMs } from './servers/grow-users.ts'

/** One kind of request, with so many users in the database. */
export interface Case {
  readonly name: string
  readonly title: string
  /** What `--only` calls it. */
  readonly family: string
  readonly script: ScriptName
  readonly connections: number
  readonly users: number
  /** Of a listing. */
  readonly path?: string
  /** Slices are so many times longer: what takes long happens seldom. */
  readonly longer: number
  /** The peer has nothing like it. */
  readonly isOursOnly?: boolean
  /** Requests for /user beside it, to see whether others have to wait. */
  readonly probesPerSecond?: number
}

const usualUsers = 100_000

const single = (
  name: string,
  title: string,
  script: ScriptName,
  more: Partial<Case> = {},
): Case => ({
  name,
  title,
  family: name,
  script,
  connections: 32,
  users: usualUsers,
  longer: 1,
  ...more,
})

const perPage = 50
const yearMs = 365 * 86_400_000

/** The filter finds one user, whose number is below every size. */
const filter = 'cee631121c2e'

function listings(users: number, label: string): readonly Case[] {
  const listing = (name: string, title: string, query: string): Case => ({
    ...single(`admin-${name}-${label}`, `admin list, ${title}, ${label} users`, 'list'),
    family: 'admin',
    connections: 8,
    users,
    path: `/admin/users?${query}`,
  })
  const middle = Math.floor(users / perPage / 2)
  const cursor = toCursor(users / 2)
  return [
    listing('first', 'first page', `page=1&per_page=${perPage}`),
    listing('deep', 'page in the middle', `page=${middle}&per_page=${perPage}`),
    {
      ...listing('cursor', 'by cursor', `limit=${perPage}&cursor=${cursor}`),
      isOursOnly: true,
    },
    listing('filter', 'with a filter', `page=1&per_page=${perPage}&filter=${filter}`),
  ]
}

/** Of a place near the user with that number; nobody has to be there. */
function toCursor(user: number): string {
  const createdAt = new Date(Date.now() - yearMs + user * createdApartMs).toISOString()
  return Buffer.from(`${createdAt} 00000000-0000-0000-0000-000000000000`).toString('base64url')
}

/** By the number of users, which only ever grows. */
export const cases: readonly Case[] = [
  ...listings(1_000, '1k'),
  single('user', 'GET /user', 'user'),
  single('refresh', 'refresh, a session for each connection', 'refresh'),
  single('storm', 'refresh, one token for all connections', 'storm'),
  single('login', 'password login', 'login', { connections: 8, longer: 4, probesPerSecond: 50 }),
  single('signup', 'sign-up', 'signup', { connections: 8, longer: 4 }),
  ...listings(usualUsers, '100k'),
  ...listings(1_000_000, '1M'),
]

export const families: readonly string[] = [...new Set(cases.map(({ family }) => family))]
