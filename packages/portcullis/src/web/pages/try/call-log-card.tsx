import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { formatNumber } from '../../format.ts'

/** People learn the API from what they see it do. */
export function CallLogCard(): JSX.Element {
  const calls = useCalls()
  const clear = calls.length > 0 && (
    <Button kind="quiet" size="small" onClick={clearCalls}>
      Clear
    </Button>
  )
  return (
    <Card title="Calls made" actions={clear} isFlush>
      {calls.length === 0 && (
        <p class="try-no-calls muted small">
          Every call to the auth server and to the GraphQL API appears here.
        </p>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- who has no mouse scrolls it by keys. */}
      <ol class="try-calls" aria-label="Calls, the newest first" tabIndex={0}>
        {calls.map(({ id, method, part, path, status, durationMs, count }) => (
          <li key={id}>
            <Badge tone={toTone(status)}>{status === 0 ? 'none' : status}</Badge>
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

/** A call that this page made, or several equal ones in a row. */
interface LoggedCall {
  readonly id: number
  readonly method: string
  readonly part: 'auth' | 'graphql'
  /** As the server behind the console sees it. */
  readonly path: string
  /** 0: no answer. */
  readonly status: number
  readonly durationMs: number
  readonly count: number
}

const mostKept = 60
const storageKey = 'portcullis-try-calls'
// A link of a mail loads the page anew; what led to it is still worth seeing.
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

/** `fetch`, and everybody can see what was called. */
export async function loggedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const begin = performance.now()
  const { pathname, search } = new URL(String(input), location.origin)
  const tell = (status: number) =>
    add({
      method: init?.method ?? 'GET',
      part: pathname === '/graphql' ? 'graphql' : 'auth',
      path: pathname.replace(/^\/auth(?=\/)/, '') + decodeURIComponent(search),
      status,
      durationMs: performance.now() - begin,
    })
  try {
    const answer = await fetch(input, init)
    tell(answer.status)
    return answer
  } catch (error) {
    tell(0)
    throw error
  }
}

function clearCalls(): void {
  setCalls([])
}

/** The newest comes first. */
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
