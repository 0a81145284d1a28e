import { useState } from 'preact/hooks'
import type { GraphqlAnswer, GraphqlQuery } from '../../../../console/routes/graphql-query.ts'
import { callApi } from '../../../api.ts'
import { addToHistory, clearHistory, type PastQuery, readHistory } from './history.ts'

/** The user as whom queries are sent. */
export interface ChosenUser {
  readonly id: string
  readonly name: string
}

/** The content of the form. */
export interface QueryDraft {
  readonly query: string
  /** JSON; empty without variables. */
  readonly variables: string
  readonly headers: string
  /** The operation to run if the query has several. */
  readonly operation: string
  readonly user: ChosenUser | undefined
}

export interface QueryControl {
  readonly draft: QueryDraft
  readonly change: (change: Partial<QueryDraft>) => void
  /** The names of the operations in the query. */
  readonly operations: readonly string[]
  readonly answer: GraphqlAnswer | undefined
  readonly error: unknown
  readonly isSending: boolean
  readonly send: () => Promise<void>
  readonly history: readonly PastQuery[]
  readonly forget: () => void
}

const emptyDraft: QueryDraft = {
  query: '# Ctrl+Space completes, Ctrl+Enter sends.\n{\n  __typename\n}\n',
  variables: '',
  headers: '',
  operation: '',
  user: undefined,
}

/** Kept while other pages are shown, but lost on reload, because headers may contain secrets. */
let keptDraft: QueryDraft | undefined

export function useQuery(): QueryControl {
  const [history, setHistory] = useState(readHistory)
  const [draft, setDraft] = useState(() => keptDraft ?? toDraft(history[0]))
  const [answer, setAnswer] = useState<GraphqlAnswer>()
  const [error, setError] = useState<unknown>()
  const [isSending, setSending] = useState(false)
  const operations = findOperations(draft.query)

  const change = (next: Partial<QueryDraft>) =>
    setDraft((before) => {
      keptDraft = { ...before, ...next }
      return keptDraft
    })

  const send = async () => {
    if (isSending) return
    setSending(true)
    setError(undefined)
    try {
      const body = toBody(draft, operations)
      const received = await callApi<GraphqlAnswer>('/api/graphql/query', { method: 'POST', body })
      setAnswer(received)
      const { query, variables, headers } = draft
      const { status } = received
      setHistory((before) =>
        addToHistory(before, { query, variables, headers, status, at: Date.now() }),
      )
    } catch (reason) {
      setAnswer(undefined)
      setError(reason)
    } finally {
      setSending(false)
    }
  }

  const forget = () => setHistory(clearHistory())
  return { draft, change, operations, answer, error, isSending, send, history, forget }
}

function toDraft(past: PastQuery | undefined): QueryDraft {
  if (past === undefined) return emptyDraft
  const { query, variables, headers } = past
  return { ...emptyDraft, query, variables, headers }
}

/** @throws Error if the variables are not a JSON object. */
function toBody(draft: QueryDraft, operations: readonly string[]): GraphqlQuery {
  const { query, headers, operation, user } = draft
  const variables = parseVariables(draft.variables)
  const name = operations.includes(operation) ? operation : operations[0]
  return {
    query,
    headers,
    ...(variables && { variables }),
    ...(operations.length > 1 && name !== undefined && { operationName: name }),
    ...(user && { userId: user.id }),
  }
}

function parseVariables(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The variables are not valid JSON: ${reason}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new Error('The variables must be a JSON object, such as {"id": 7}.')
}

/** Finds the names outside strings and comments. */
export function findOperations(query: string): readonly string[] {
  const code = query.replaceAll(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*/g, ' ')
  const found = code.matchAll(/(?:^|\})\s*(?:query|mutation|subscription)\s+(\w+)/g)
  return [...found].map(([, name = '']) => name)
}
