import type { ScriptName } from './load/scripts.ts'
import { creationIntervalMs } from './servers/grow-users.ts'

/** One kind of request with a given number of users in the database. */
export interface Case {
  readonly name: string
  readonly title: string
  /** The name for `--only`. */
  readonly family: string
  readonly script: ScriptName
  readonly connections: number
  /** Whether a server with several workers gets that many connections for each of them. */
  readonly isPerWorker?: boolean
  readonly users: number
  /** The path and query of a listing. */
  readonly path?: string
  /** A factor for the length of slices, because slow requests are rarer. */
  readonly longer: number
  /** Whether the peer has no equivalent. */
  readonly isOursOnly?: boolean
  /** Whether our server is also measured with several workers. */
  readonly comparesWorkers?: boolean
  /** Whether bcrypt without a server is measured beside it. */
  readonly comparesBcrypt?: boolean
  /** GET /user requests per second beside the load, to see whether they are delayed. */
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

/** The filter matches one user whose number is below every size. */
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

/** A cursor near the user with this number; the user does not have to exist. */
function toCursor(user: number): string {
  const createdAt = new Date(Date.now() - yearMs + user * creationIntervalMs).toISOString()
  return Buffer.from(`${createdAt} 00000000-0000-0000-0000-000000000000`).toString('base64url')
}

/** Ordered by the number of users, because the database only grows. */
export const cases: readonly Case[] = [
  ...listings(1_000, '1k'),
  single('user', 'GET /user', 'user', { comparesWorkers: true }),
  {
    // With the same connections, each of several workers has fewer requests that share statements (decision 028).
    ...single('user-scaled', 'GET /user, 32 connections per worker', 'user'),
    family: 'user',
    isPerWorker: true,
    isOursOnly: true,
    comparesWorkers: true,
  },
  single('refresh', 'refresh, a session for each connection', 'refresh', {
    comparesWorkers: true,
  }),
  single('storm', 'refresh, one token for all connections', 'storm'),
  single('login', 'password login', 'login', { connections: 8, longer: 4, comparesBcrypt: true }),
  {
    ...single('login-probed', 'password login, beside GET /user', 'login'),
    family: 'login',
    connections: 8,
    longer: 4,
    isOursOnly: true,
    probesPerSecond: 50,
  },
  single('signup', 'sign-up', 'signup', { connections: 8, longer: 4 }),
  ...listings(usualUsers, '100k'),
  ...listings(1_000_000, '1M'),
]

export const families: readonly string[] = [...new Set(cases.map(({ family }) => family))]
