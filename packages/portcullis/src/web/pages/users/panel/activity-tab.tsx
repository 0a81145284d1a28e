import type { JSX } from 'preact'
import { useEffect, useReducer, useState } from 'preact/hooks'
import type { AuditEntry, UserAudit } from '../../../../console/routes/users-audit.ts'
import { callApi } from '../../../api.ts'
import { toActor, toSentence } from '../../../audit-sentences.ts'
import { Button } from '../../../components/button.tsx'
import { Empty, Failure, Loading } from '../../../components/states.tsx'
import { showFailure } from '../../../components/toasts.tsx'
import { formatAge, formatNumber, formatTime } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import type { TabProps } from './tab.ts'

const atOnce = 25

/** The audit log entries about the user, newest first. */
export function ActivityTab({ user }: TabProps): JSX.Element {
  const path = `/api/users/${user.id}/audit`
  // Every change of the user adds an entry.
  const loaded = useLoaded(
    (signal) => callApi<UserAudit>(path, { signal }),
    [user.id, user.updated_at],
  )
  if (loaded.state === 'loading') return <Loading>Loading the audit log…</Loading>
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  return <Trail userId={user.id} path={path} newest={loaded.value} />
}

interface TrailProps {
  readonly userId: string
  readonly path: string
  readonly newest: UserAudit
}

function Trail({ userId, path, newest }: TrailProps): JSX.Element {
  const [audit, setAudit] = useState(newest)
  const [shown, showMore] = useReducer<number, undefined>((count) => count + atOnce, atOnce)
  useEffect(() => setAudit(newest), [newest])
  const { entries, counts, read, total, next } = audit
  const readOn = async () => {
    try {
      const older = await callApi<UserAudit>(`${path}?from=${next}`)
      setAudit({ ...older, entries: withoutRepeats([...entries, ...older.entries]) })
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <>
      <a href={`/events?user=${userId}`}>All events</a>
      {entries.length === 0 && (
        <Empty icon="overview" title="No activity found">
          {next === undefined
            ? 'The audit log has no entries about this user.'
            : 'The log has not been searched to its end. Load older entries to continue.'}
        </Empty>
      )}
      <ol class="items user-trail" aria-label="Activity">
        {entries.slice(0, shown).map((entry) => (
          <Entry key={entry.id} entry={entry} userId={userId} />
        ))}
      </ol>
      {entries.length > shown ? (
        <Button onClick={() => showMore(undefined)}>Show more</Button>
      ) : (
        next !== undefined && (
          <div class="stack tight">
            <p class="muted small">
              The newest {formatNumber(read)} of {formatNumber(total)} entries{' '}
              {counts === 'log' ? 'of the log were searched.' : 'about this user.'}
            </p>
            <Button onClick={readOn}>Load older entries</Button>
          </div>
        )
      )}
    </>
  )
}

/** New entries shift older ones to the next page, which repeats them. Returns the newest first. */
function withoutRepeats(entries: readonly AuditEntry[]): readonly AuditEntry[] {
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()].sort(
    (a, b) => Date.parse(b.created_at) - Date.parse(a.created_at),
  )
}

interface EntryProps {
  readonly entry: AuditEntry
  readonly userId: string
}

function Entry({ entry, userId }: EntryProps): JSX.Element {
  const actor = toActor(entry, userId)
  return (
    <li>
      <div class="grow">
        <strong>{toSentence(entry, userId)}</strong>
        <div class="muted small">
          {actor !== undefined && <>by {actor} · </>}
          <code>{entry.payload.action}</code>
          {entry.ip_address !== '' && (
            <>
              {' '}
              · from <span class="mono">{entry.ip_address}</span>
            </>
          )}
        </div>
      </div>
      <time class="muted small number nowrap" dateTime={entry.created_at}>
        {formatTime(entry.created_at)}
        <br />
        {formatAge(entry.created_at)}
      </time>
    </li>
  )
}
