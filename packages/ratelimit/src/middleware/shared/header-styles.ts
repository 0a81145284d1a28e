import type { LimitResult, LimitStatus } from '../../limiter/limit-result.ts'
import type { HeaderPair } from './limited-answer.ts'

/** The sets of header fields that middlewares can send instead of their default. */
export const headerStyles = ['draft-6', 'draft-7', 'draft-8', 'legacy'] as const

/** See `headers` of the middlewares. */
export type HeaderStyle = (typeof headerStyles)[number]

/** These fields are lists, to which each middleware of a server appends its items. */
const listFields: ReadonlySet<string> = new Set(['ratelimit', 'ratelimit-policy', 'set-cookie'])

/** Whether a field is appended to fields of the same name instead of replacing them. */
export function isAppended(name: string): boolean {
  return listFields.has(toLowerCase(name))
}

const lowerCased = new Map<string, string>()
const mostLowerCased = 100

/** Results are cached, because nearly all responses have the same few names. */
export function toLowerCase(name: string): string {
  const known = lowerCased.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  if (lowerCased.size < mostLowerCased) lowerCased.set(name, lower)
  return lower
}

/** The fields of a style; empty if no limit applied. */
export function toHeaderFields(
  style: HeaderStyle,
  { statuses }: LimitResult,
): readonly HeaderPair[] {
  const limited = statuses.filter((status): status is Limited => status.limit !== undefined)
  const tightest = findTightest(limited)
  return tightest === undefined ? [] : styles[style]({ tightest, limited })
}

/** A status with a limit. */
type Limited = LimitStatus & { readonly limit: NonNullable<LimitStatus['limit']> }

interface Applied {
  readonly tightest: Limited
  readonly limited: readonly Limited[]
}

const styles: Readonly<Record<HeaderStyle, (applied: Applied) => readonly HeaderPair[]>> = {
  'draft-6': ({ tightest, limited }) => [
    ['ratelimit-policy', toPolicies(limited)],
    ['ratelimit-limit', `${tightest.limit.requestsPerUnit}`],
    ['ratelimit-remaining', `${tightest.remaining}`],
    ['ratelimit-reset', `${tightest.resetSeconds ?? 0}`],
  ],
  'draft-7': ({ tightest: { limit, remaining, resetSeconds = 0 }, limited }) => [
    ['ratelimit-policy', toPolicies(limited)],
    ['ratelimit', `limit=${limit.requestsPerUnit}, remaining=${remaining}, reset=${resetSeconds}`],
  ],
  'draft-8': ({ limited }) => {
    const names = toNames(limited)
    return [
      [
        'ratelimit-policy',
        limited
          .map(
            (status, n) =>
              `${names[n]};q=${status.limit.requestsPerUnit};w=${status.limit.windowSeconds}`,
          )
          .join(', '),
      ],
      [
        'ratelimit',
        limited
          .map(
            ({ remaining, resetSeconds = 0 }, n) => `${names[n]};r=${remaining};t=${resetSeconds}`,
          )
          .join(', '),
      ],
    ]
  },
  legacy: ({ tightest: { limit, remaining, resetSeconds = 0 } }) => [
    ['x-ratelimit-limit', `${limit.requestsPerUnit}`],
    ['x-ratelimit-remaining', `${remaining}`],
    ['x-ratelimit-reset', `${Math.ceil(Date.now() / 1_000) + resetSeconds}`],
  ],
}

/** Finds the tightest limit: the last one that is exceeded, or else the first with the least remaining. */
function findTightest(limited: readonly Limited[]): Limited | undefined {
  const over = limited.findLast(({ isOver }) => isOver)
  if (over !== undefined) return over
  return limited.reduce<Limited | undefined>(
    (least, status) => (least === undefined || status.remaining < least.remaining ? status : least),
    undefined,
  )
}

/** Drafts 6 and 7 identify policies by their quota, so equal ones are listed once. */
function toPolicies(limited: readonly Limited[]): string {
  const policies = limited.map(({ limit }) => `${limit.requestsPerUnit};w=${limit.windowSeconds}`)
  return [...new Set(policies)].join(', ')
}

/** The name of each policy: the keys it counts by, with a number if several have the same keys. */
function toNames(limited: readonly Limited[]): string[] {
  const used = new Map<string, number>()
  return limited.map(({ keys }) => {
    // These characters are not allowed in a structured string (RFC 9651).
    const name = keys.join('_').replaceAll(/[^ -~]|["\\]/g, '-')
    const count = (used.get(name) ?? 0) + 1
    used.set(name, count)
    return count === 1 ? `"${name}"` : `"${name}-${count}"`
  })
}
