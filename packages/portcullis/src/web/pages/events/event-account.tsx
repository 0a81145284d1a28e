import type { JSX } from 'preact'
import type { Session, User } from '../../../console/routes/users-upstream.ts'
import { callApi, isNotFound, toMessage } from '../../api.ts'
import { formatBanEnd } from '../../ban-end.ts'
import { Badge } from '../../components/badge.tsx'
import { formatPhone, formatTime } from '../../format.ts'
import { useLoaded } from '../../use-loaded.ts'

/** The account as it is now, which often explains why a sign-in failed. */
export function EventUser({ userId }: { readonly userId: string }): JSX.Element {
  const loaded = useLoaded((signal) => callApi<User>(`/api/users/${userId}`, { signal }), [userId])
  return (
    <section aria-label="Current state of the account" class="stack tight">
      <h3>Current state of the account</h3>
      {loaded.state === 'loading' && <p class="muted">Loading…</p>}
      {loaded.state === 'failed' && (
        <p class="muted">
          {isNotFound(loaded.error) ? 'The account was deleted.' : toMessage(loaded.error)}
        </p>
      )}
      {loaded.state === 'ready' && <Account user={loaded.value} />}
    </section>
  )
}

function Account({ user }: { readonly user: User }): JSX.Element {
  const { email, phone, banned_until: bannedUntil, confirmed_at: confirmedAt } = user
  const isBanned = bannedUntil !== undefined && Date.parse(bannedUntil) > Date.now()
  const factors = (user.factors ?? []).filter(({ status }) => status === 'verified')
  return (
    <dl class="event-facts">
      <div>
        <dt>Name</dt>
        <dd>{[email, phone && formatPhone(phone)].filter(Boolean).join(', ') || 'anonymous'}</dd>
      </div>
      <div>
        <dt>Status</dt>
        <dd>
          {isBanned && <Badge tone="danger">Banned {formatBanEnd(bannedUntil)}</Badge>}
          {confirmedAt === undefined && !user.is_anonymous && (
            <Badge tone="warn">Not confirmed</Badge>
          )}
          {!isBanned && (confirmedAt !== undefined || user.is_anonymous) && (
            <Badge tone="ok">Can sign in</Badge>
          )}
        </dd>
      </div>
      <div>
        <dt>Last sign-in</dt>
        <dd>{user.last_sign_in_at === undefined ? 'never' : formatTime(user.last_sign_in_at)}</dd>
      </div>
      <div>
        <dt>Second factors</dt>
        <dd>{factors.map(({ factor_type: type }) => type).join(', ') || 'none'}</dd>
      </div>
    </dl>
  )
}

/** The device of a session, as long as the session exists. */
export function EventSession(props: {
  readonly userId: string
  readonly sessionId: string
}): JSX.Element {
  const { userId, sessionId } = props
  const loaded = useLoaded(
    (signal) => callApi<readonly Session[]>(`/api/users/${userId}/sessions`, { signal }),
    [userId, sessionId],
  )
  if (loaded.state === 'loading') return <span class="muted small">Loading the session…</span>
  const session =
    loaded.state === 'ready' ? loaded.value.find(({ id }) => id === sessionId) : undefined
  if (session === undefined) return <span class="muted small">This session has ended.</span>
  return (
    <>
      <span>
        {session.device} <span class="mono small">{session.ip}</span>
      </span>
      <span class="muted small">{session.user_agent}</span>
      <a class="small" href={`/users?id=${userId}&tab=sessions`}>
        Sessions of this user
      </a>
    </>
  )
}
