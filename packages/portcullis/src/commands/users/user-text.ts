import { type Paint, type Style, toFactLines, toSafe, toTable, toTime } from '../admin/text.ts'

/** A user as the auth server returns it; only the fields that are printed. */
export interface UserRecord {
  readonly id: string
  readonly email?: string
  readonly phone?: string
  readonly role?: string
  readonly email_confirmed_at?: string
  readonly phone_confirmed_at?: string
  readonly last_sign_in_at?: string
  readonly banned_until?: string
  readonly deleted_at?: string
  readonly created_at?: string
  readonly is_anonymous?: boolean
  readonly app_metadata?: { readonly providers?: readonly string[] }
  readonly user_metadata?: Readonly<Record<string, unknown>>
  readonly factors?: readonly FactorRecord[]
}

export interface FactorRecord {
  readonly id: string
  readonly factor_type?: string
  readonly status?: string
}

export interface SessionRecord {
  readonly device?: string
  readonly ip?: string
  readonly last_used_at?: string
}

/** How the user is named in messages. */
export function toName({ id, email, phone }: UserRecord): string {
  const address = email || phone
  return address ? `${toSafe(address)} (${id})` : id
}

type State = readonly [text: string, style: Style | undefined]

function toState(user: UserRecord, now: number): State {
  if (user.deleted_at) return ['deleted', 'dim']
  if (isBanned(user, now)) return ['banned', 'red']
  if (user.is_anonymous) return ['anonymous', 'dim']
  return user.email_confirmed_at || user.phone_confirmed_at
    ? ['confirmed', undefined]
    : ['unconfirmed', 'yellow']
}

export function isBanned({ banned_until: until }: UserRecord, now: number): boolean {
  return until !== undefined && Date.parse(until) > now
}

const headings = ['ID', 'ADDRESS', 'STATE', 'LAST SIGN-IN (UTC)', 'CREATED (UTC)'] as const

/** One user per line, in columns. */
export function toUserTable(users: readonly UserRecord[], paint: Paint, now = Date.now()): string {
  const rows = users.map((user) => [
    user.id,
    toSafe(user.email || user.phone || '-'),
    toState(user, now),
    toTime(user.last_sign_in_at),
    toTime(user.created_at),
  ])
  return toTable(headings, rows, paint)
}

/** All facts about one user, one per line. */
export function toDetails(
  user: UserRecord,
  sessions: readonly SessionRecord[] | undefined,
  paint: Paint,
  now = Date.now(),
): string {
  const [state, style] = toState(user, now)
  const ban = isBanned(user, now) ? ` until ${toTime(user.banned_until)} UTC` : ''
  const stateText = `${state}${ban}`
  const factors = (user.factors ?? []).map(({ factor_type: type, status }) => `${type} (${status})`)
  const facts: readonly (readonly [string, string])[] = [
    ['id', user.id],
    ['email', withConfirmation(user.email, user.email_confirmed_at)],
    ['phone', withConfirmation(user.phone, user.phone_confirmed_at)],
    ['state', style ? paint(style, stateText) : stateText],
    ['role', toSafe(user.role || '-')],
    ['providers', toSafe((user.app_metadata?.providers ?? []).join(', ') || '-')],
    ['second factors', toSafe(factors.join(', ') || '-')],
    ['last sign-in', toTime(user.last_sign_in_at)],
    ['created', toTime(user.created_at)],
    ['metadata', toSafe(JSON.stringify(user.user_metadata ?? {}))],
    ...(sessions === undefined ? [] : [['sessions', `${sessions.length}`] as const]),
  ]
  const rows = (sessions ?? []).map(({ device, ip, last_used_at: used }) => {
    const parts = [device || 'unknown device', ip || 'unknown address', `used ${toTime(used)}`]
    return `  ${toSafe(parts.join(', '))}\n`
  })
  return `${toFactLines(facts, paint)}${rows.join('')}`
}

function withConfirmation(address: string | undefined, confirmedAt: string | undefined): string {
  if (!address) return '-'
  return `${toSafe(address)} (${confirmedAt ? 'confirmed' : 'not confirmed'})`
}
