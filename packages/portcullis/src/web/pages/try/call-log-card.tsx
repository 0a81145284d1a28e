import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { formatNumber } from '../../format.ts'

/** Lists the API calls of this page, as a way to learn the API. */
export function CallLogCard(): JSX.Element {
  const calls = useCalls()
  const clear = calls.length > 0 && (
    <Button kind="quiet" size="small" onClick={clearCalls}>
      Clear
    </Button>
  )
  return (
    <Card title="API calls" actions={clear} isFlush>
      {calls.length === 0 && (
        <p class="try-no-calls muted small">
          Calls to the auth server and the GraphQL API appear here. Sign up to see the first one.
        </p>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keyboard users need to scroll it. */}
      <ol class="try-calls" aria-label="API calls, newest first" tabIndex={0}>
        {calls.map(({ id, method, part, path, status, durationMs, count }) => (
          <li key={id}>
            <Badge tone={toTone(status)}>{status === 0 ? 'failed' : status}</Badge>
            <span class="try-call mono">
              <strong>{method}</strong> <span title={path}>{path}</span>
            </span>
            <span class="try-call-more muted small number">
              {part}
              {count > 1 && <strong> ×{count}</strong>}, {formatNumber(Math.round(durationMs))} ms
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function toTone(status: number): Tone {
  if (status === 0 || status >= 500) return 'danger'
  return status >= 400 ? 'warn' : 'ok'
}

/** A call of this page, or several equal calls in a row. */
interface LoggedCall {
  readonly id: number
  readonly method: string
  readonly part: 'auth' | 'graphql'
  /** The path that the server behind the console receives. */
  readonly path: string
  /** 0 if there was no response. */
  readonly status: number
  readonly durationMs: number
  readonly count: number
}

const mostKept = 60
const storageKey = 'portcullis-try-calls'
// Kept in the session storage, because a link in a mail reloads the page.
let calls = readStored()
let lastId = calls[0]?.id ?? 0
const listeners = new Set<() => void>()

function readStored(): readonly LoggedCall[] {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? '[]')
  } catch {
    return []
  }
}

function setCalls(next: readonly LoggedCall[]): void {
  calls = next
  sessionStorage.setItem(storageKey, JSON.stringify(next))
  for (const listener of listeners) listener()
}

function add(call: Omit<LoggedCall, 'id' | 'count'>): void {
  const [newest, ...rest] = calls
  const isSame =
    newest?.method === call.method && newest.path === call.path && newest.status === call.status
  lastId += 1
  if (isSame) setCalls([{ ...newest, ...call, count: newest.count + 1 }, ...rest])
  else setCalls([{ ...call, id: lastId, count: 1 }, ...calls].slice(0, mostKept))
}

/** Calls `fetch` and adds the call to the log. */
export async function loggedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const begin = performance.now()
  const { pathname, search } = new URL(String(input), location.origin)
  const log = (status: number) =>
    add({
      method: init?.method ?? 'GET',
      part: pathname === '/graphql' ? 'graphql' : 'auth',
      path: pathname.replace(/^\/auth(?=\/)/, '') + decodeURIComponent(search),
      status,
      durationMs: performance.now() - begin,
    })
  try {
    const answer = await fetch(input, init)
    log(answer.status)
    return answer
  } catch (error) {
    log(0)
    throw error
  }
}

function clearCalls(): void {
  setCalls([])
}

/** Newest first. */
function useCalls(): readonly LoggedCall[] {
  const [shown, setShown] = useState(calls)
  useEffect(() => {
    const listener = () => setShown(calls)
    listener()
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, [])
  return shown
}
