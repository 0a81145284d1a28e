import type { JSX } from 'preact'
import type { Session } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Empty, Failure, Loading } from '../../../components/states.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { formatAge, formatTime } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { revokeSessions, toSessionsPath } from '../change-user.ts'
import type { TabProps } from './tab.ts'

export function SessionsTab({ user }: TabProps): JSX.Element {
  const path = toSessionsPath(user.id)
  const loaded = useLoaded((signal) => callApi<readonly Session[]>(path, { signal }), [user.id])
  if (loaded.state === 'loading') return <Loading />
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  const sessions = loaded.value
  if (sessions.length === 0) {
    return (
      <Empty icon="system" title="No active sessions">
        A session appears here when the user signs in.
      </Empty>
    )
  }
  const end = async (ended: readonly Session[], done: string) => {
    try {
      await revokeSessions(user.id, ended)
      showSuccess(done)
    } catch (error) {
      showFailure(error)
    }
    loaded.reload()
  }
  return (
    <>
      <div class="row between">
        <p class="muted small">
          A revoked session cannot be refreshed. Your services may still accept its access token
          until the token expires.
        </p>
        <Button size="small" kind="danger" onClick={() => end(sessions, 'All sessions revoked.')}>
          Revoke all
        </Button>
      </div>
      <ul class="items" aria-label="Sessions">
        {sessions.map((session) => (
          <SessionItem
            key={session.id}
            session={session}
            onEnd={() => end([session], 'Session revoked.')}
          />
        ))}
      </ul>
    </>
  )
}

interface SessionItemProps {
  readonly session: Session
  readonly onEnd: () => unknown
}

function SessionItem({ session, onEnd }: SessionItemProps): JSX.Element {
  const { device, user_agent: userAgent, ip, aal, last_used_at: usedAt, created_at: at } = session
  return (
    <li>
      <div class="grow">
        <strong title={userAgent}>{device}</strong>{' '}
        {aal === 'aal2' && <Badge tone="ok">Two factors</Badge>}
        <div class="muted small">
          <span class="mono">{ip || 'unknown IP address'}</span>, since {formatTime(at)}
        </div>
      </div>
      <span class="muted small number nowrap" title={formatTime(usedAt)}>
        used {formatAge(usedAt)}
      </span>
      <Button size="small" label={`Revoke session: ${device}`} onClick={onEnd}>
        Revoke
      </Button>
    </li>
  )
}
