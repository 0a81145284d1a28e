import { useEffect, useState } from 'preact/hooks'

/** A call that this page made, or several equal ones in a row. */
export interface LoggedCall {
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

export function clearCalls(): void {
  setCalls([])
}

/** The newest comes first. */
export function useCalls(): readonly LoggedCall[] {
  const [shown, setShown] = useState(calls)
  useEffect(() => {
    const listener = () => setShown(calls)
    listener()
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, [])
  return shown
}
