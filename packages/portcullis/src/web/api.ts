import { useEffect, useState } from 'preact/hooks'

/** An answer that is not what was asked for, in words for the person who asked. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface ApiOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

interface ApiAnswer<Body> {
  readonly body: Body
  readonly headers: Headers
}

/** Says that a script of ours calls; the console refuses calls without it. */
export const callHeaders = { 'x-portcullis-console': '1' }

/** Calls the console. @throws {ApiError} when it refuses, or does not answer. */
export async function callApi<Body>(path: string, options: ApiOptions = {}): Promise<Body> {
  return (await callApiWithHeaders<Body>(path, options)).body
}

/** The same, for those who need more than the body. */
export async function callApiWithHeaders<Body>(
  path: string,
  { method = 'GET', body, signal }: ApiOptions = {},
): Promise<ApiAnswer<Body>> {
  const answer = await fetch(path, {
    method,
    headers: { ...callHeaders, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', 'The console does not answer. Is it still running?')
  })
  const text = await answer.text()
  const content = parseJson(text)
  if (!answer.ok) throw toError(answer.status, content)
  // The shapes are those of our own routes.
  return { body: content as Body, headers: answer.headers }
}

function parseJson(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The console's own failures, and those of the auth server that it hands on. */
interface Failure {
  readonly error?: { readonly code: string; readonly message: string }
  readonly error_code?: string
  readonly msg?: string
}

function toError(status: number, content: unknown): ApiError {
  const { error, error_code, msg }: Failure = (content ?? {}) as Failure
  if (error?.code === 'no_access') tellAccessLost()
  if (error) return new ApiError(status, error.code, error.message)
  return new ApiError(status, error_code ?? 'unknown', msg ?? `The answer was ${status}.`)
}

/** What to show of whatever was thrown. */
export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const listeners = new Set<() => void>()

/** To be called when the console does not let us in any more. */
function tellAccessLost(): void {
  for (const listener of listeners) listener()
}

/** Whether it was started again with another token: nothing on the page works then. */
export function useAccessLost(): boolean {
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    const listener = () => setLost(true)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [])
  return isLost
}
