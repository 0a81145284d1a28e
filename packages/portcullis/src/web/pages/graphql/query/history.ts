/** A query that was sent. */
export interface PastQuery {
  readonly query: string
  readonly variables: string
  /** Without headers that may contain secrets. */
  readonly headers: string
  readonly status: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

const storageKey = 'portcullis-graphql-history'
const mostEntries = 50
/** Browsers keep about 5 MB per origin. */
const mostCharacters = 200_000

/** Newest first. */
export function readHistory(): readonly PastQuery[] {
  try {
    const entries: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(entries) ? entries.filter(isPastQuery) : []
  } catch {
    return []
  }
}

/** Adds a query, or moves it to the top. */
export function addToHistory(history: readonly PastQuery[], sent: PastQuery): readonly PastQuery[] {
  const entry = { ...sent, headers: dropSecrets(sent.headers) }
  const others = history.filter(
    ({ query, variables }) => query !== entry.query || variables !== entry.variables,
  )
  let characters = 0
  const next = [entry, ...others].slice(0, mostEntries).filter((each) => {
    characters += each.query.length + each.variables.length + each.headers.length
    return characters <= mostCharacters
  })
  writeHistory(next)
  return next
}

export function clearHistory(): readonly PastQuery[] {
  localStorage.removeItem(storageKey)
  return []
}

function writeHistory(history: readonly PastQuery[]): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(history))
  } catch {
    // The browser's storage is full or disabled; the history of this page still works.
  }
}

const secretNames = /auth|cookie|credential|key|pass|secret|session|signature|token/i

/** Removes the lines of headers whose names suggest a secret. */
export function dropSecrets(headers: string): string {
  const lines = headers.split('\n')
  return lines.filter((line) => !secretNames.test(line.split(':')[0] ?? '')).join('\n')
}

function isPastQuery(value: unknown): value is PastQuery {
  if (typeof value !== 'object' || value === null) return false
  const { query, variables, headers, status, at }: Partial<Record<keyof PastQuery, unknown>> = value
  return (
    [query, variables, headers].every((text) => typeof text === 'string') &&
    [status, at].every((number) => typeof number === 'number')
  )
}
