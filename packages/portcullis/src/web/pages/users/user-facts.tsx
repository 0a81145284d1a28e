import type { JSX } from 'preact'
import type { User } from '../../../console/routes/users-upstream.ts'
import { formatBanEnd } from '../../ban-end.ts'
import type { Tone } from '../../components/badge.tsx'
import { Badge } from '../../components/badge.tsx'
import { formatPhone, formatTime } from '../../format.ts'

/** Returns the name of a user for lists and headings. */
export function toUserName(user: User): string {
  if (user.email !== '') return user.email
  if (user.phone !== '') return formatPhone(user.phone)
  if (user.deleted_at !== undefined) return 'Deleted user'
  return user.is_anonymous ? 'Anonymous' : 'No email or phone'
}

/** Returns the full name from the metadata, if there is one. */
export function toFullName({ user_metadata: metadata }: User): string | undefined {
  const name = metadata['full_name'] ?? metadata['name']
  return typeof name === 'string' && name !== '' ? name : undefined
}

export function toProviders(user: User): readonly string[] {
  return [...new Set(user.identities.map(({ provider }) => provider))]
}

export function isBanned({ banned_until: until }: User, now = Date.now()): boolean {
  return until !== undefined && Date.parse(until) > now
}

/** The default roles that may use the admin endpoints. */
const adminRoles: readonly string[] = ['service_role', 'supabase_admin']

const ordinaryRoles: readonly string[] = ['', 'authenticated']

interface Mark {
  readonly label: string
  readonly tone?: Tone
  readonly title?: string
}

/** Returns the badges of a user, the most important first. */
function toMarks(user: User): readonly Mark[] {
  return [...toStanding(user), ...toRole(user), toReach(user)]
}

function toStanding(user: User): readonly Mark[] {
  return [
    ...(user.deleted_at === undefined
      ? []
      : [{ label: 'Deleted', title: `Since ${formatTime(user.deleted_at)}` }]),
    ...(user.banned_until !== undefined && isBanned(user)
      ? [
          {
            label: 'Banned',
            tone: 'danger',
            title: `Banned ${formatBanEnd(user.banned_until)}`,
          } as const,
        ]
      : []),
  ]
}

function toRole({ role }: User): readonly Mark[] {
  if (ordinaryRoles.includes(role)) return []
  return [
    adminRoles.includes(role)
      ? { label: 'Admin', tone: 'accent', title: `Role: ${role}` }
      : { label: role, title: `Role: ${role}` },
  ]
}

function toReach(user: User): Mark {
  if (user.is_anonymous) return { label: 'Anonymous', title: 'Signed in without email or phone' }
  if (user.confirmed_at !== undefined) {
    return { label: 'Confirmed', tone: 'ok', title: `Since ${formatTime(user.confirmed_at)}` }
  }
  return user.invited_at === undefined
    ? {
        label: 'Unconfirmed',
        tone: 'warn',
        title: 'No confirmed email address or phone number yet',
      }
    : { label: 'Invited', tone: 'warn', title: `At ${formatTime(user.invited_at)}` }
}

export function UserBadges({ user }: { readonly user: User }): JSX.Element {
  return (
    <span class="user-marks">
      {toMarks(user).map(({ label, tone, title }) => (
        <span key={label} class={tone === 'ok' ? 'usual' : undefined} title={title}>
          <Badge tone={tone}>{label}</Badge>
        </span>
      ))}
    </span>
  )
}
