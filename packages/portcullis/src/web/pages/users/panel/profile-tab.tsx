import type { ComponentChildren, JSX } from 'preact'
import type { UserAudit } from '../../../../console/routes/users-audit.ts'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { toActor } from '../../../audit-sentences.ts'
import { formatBanEnd } from '../../../ban-end.ts'
import { formatAge, formatPhone, formatTime } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { isBanned } from '../user-facts.tsx'
import { MetadataEditor } from './metadata-editor.tsx'
import type { TabProps } from './tab.ts'

export function ProfileTab({ user, onChange }: TabProps): JSX.Element {
  return (
    <>
      <dl class="user-facts">
        {toFacts(user).map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <MetadataEditor
        title="User metadata"
        hint="Users can change this themselves, so do not use it for authorization."
        field="user_metadata"
        user={user}
        onChange={onChange}
      />
      <MetadataEditor
        title="App metadata"
        hint="Only administrators can change this. It is part of every access token."
        field="app_metadata"
        user={user}
        onChange={onChange}
      />
    </>
  )
}

interface Fact {
  readonly name: string
  readonly value: ComponentChildren
}

function toFacts(user: User): readonly Fact[] {
  return [
    { name: 'Email', value: toReach(user.email, user.email_confirmed_at) },
    ...(user.new_email === undefined
      ? []
      : [{ name: 'New email', value: toReach(user.new_email, undefined) }]),
    {
      name: 'Phone',
      value: toReach(user.phone && formatPhone(user.phone), user.phone_confirmed_at),
    },
    { name: 'Role', value: <span class="mono">{user.role || '–'}</span> },
    { name: 'Created', value: <Moment time={user.created_at} /> },
    { name: 'Last sign-in', value: <Moment time={user.last_sign_in_at} otherwise="never" /> },
    { name: 'Updated', value: <Moment time={user.updated_at} /> },
    ...(user.invited_at === undefined
      ? []
      : [{ name: 'Invited', value: <Moment time={user.invited_at} /> }]),
    ...(user.banned_until !== undefined && isBanned(user)
      ? [{ name: 'Banned', value: <Ban user={user} until={user.banned_until} /> }]
      : []),
    ...(user.deleted_at === undefined
      ? []
      : [{ name: 'Deleted', value: <Moment time={user.deleted_at} /> }]),
  ]
}

/** Shows the end of the ban and, from the audit log, who set it. */
function Ban({ user, until }: { readonly user: User; readonly until: string }): JSX.Element {
  const loaded = useLoaded(
    (signal) => callApi<UserAudit>(`/api/users/${user.id}/audit`, { signal }),
    [user.id, user.updated_at],
  )
  const entry =
    loaded.state === 'ready'
      ? loaded.value.entries.find(({ payload }) => Boolean(payload.traits?.['banned_until']))
      : undefined
  return (
    <>
      {formatBanEnd(until)}
      {entry && (
        <span class="muted small">
          {' '}
          by {toActor(entry, user.id)}, {formatTime(entry.created_at)}
        </span>
      )}
    </>
  )
}

function toReach(address: string, confirmedAt: string | undefined): ComponentChildren {
  if (address === '') return <span class="muted">none</span>
  const state = confirmedAt === undefined ? 'not confirmed' : `confirmed ${formatAge(confirmedAt)}`
  return (
    <>
      {address} <span class="muted small">{state}</span>
    </>
  )
}

function Moment({
  time,
  otherwise = '–',
}: {
  readonly time: string | undefined
  readonly otherwise?: string
}): JSX.Element {
  if (time === undefined) return <span class="muted">{otherwise}</span>
  return (
    <time dateTime={time}>
      {formatTime(time)} <span class="muted small">{formatAge(time)}</span>
    </time>
  )
}
