import type { JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { callApi, toMessage } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import type { ChosenUser } from './use-query.ts'

interface UserPickerProps {
  readonly user: ChosenUser | undefined
  readonly onPick: (user: ChosenUser | undefined) => void
}

const mostMatches = 6
const pauseMs = 200

/** Chooses the user as whom queries are sent. */
export function UserPicker({ user, onPick }: UserPickerProps): JSX.Element {
  const id = useId()
  const [text, setText] = useState('')
  const { matches, error } = useMatches(text)
  if (user !== undefined) {
    return (
      <div class="field">
        <span class="query-label">Send as</span>
        <div class="row tight">
          <strong class="query-user">{user.name}</strong>
          <Button size="small" icon="close" onClick={() => onPick(undefined)}>
            Send anonymously
          </Button>
        </div>
        <span class="hint">
          The auth server issues an access token for each query and writes an audit entry. The token
          is not sent to this browser.
        </span>
      </div>
    )
  }
  return (
    <div class="field">
      <label for={id}>Send as</label>
      <input
        id={id}
        class="input"
        type="search"
        autocomplete="off"
        placeholder="Anonymous; or search for a user by email, phone or ID"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {error !== undefined && <span class="fault">{toMessage(error)}</span>}
      {matches !== undefined && (
        <ul class="query-matches" aria-label="Matching users">
          {matches.map((match) => {
            const name = match.email || match.phone || match.id
            const pick = () => {
              onPick({ id: match.id, name })
              setText('')
            }
            return (
              <li key={match.id}>
                <button type="button" class="button quiet small" onClick={pick}>
                  {name}
                </button>
              </li>
            )
          })}
          {matches.length === 0 && <li class="muted small">No users match.</li>}
        </ul>
      )}
    </div>
  )
}

interface Matches {
  /** Undefined without a search. */
  readonly matches: readonly User[] | undefined
  readonly error: unknown
}

const noMatches: Matches = { matches: undefined, error: undefined }

function useMatches(text: string): Matches {
  const [found, setFound] = useState(noMatches)
  const filter = text.trim()
  useEffect(() => {
    if (filter === '') {
      setFound(noMatches)
      return undefined
    }
    const leaving = new AbortController()
    const { signal } = leaving
    const search = async () => {
      const query = new URLSearchParams({ filter, page: '1', per_page: `${mostMatches}` })
      try {
        const { users } = await callApi<{ users: readonly User[] }>(`/api/users?${query}`, {
          signal,
        })
        setFound({ matches: users, error: undefined })
      } catch (error) {
        if (!signal.aborted) setFound({ matches: undefined, error })
      }
    }
    const timer = setTimeout(() => void search(), pauseMs)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [filter])
  return found
}
