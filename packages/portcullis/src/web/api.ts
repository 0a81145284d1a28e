import { useEffect, useState } from 'preact/hooks'

/** A failed call; the message is shown to the user. */
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

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
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

/** Identifies calls of the console's own scripts; the console refuses calls without it. */
export const callHeaders = { 'x-portcullis-console': '1' }

/** Calls the console. @throws {ApiError} if it refuses the call or does not respond. */
export async function callApi<Body>(path: string, options: ApiOptions = {}): Promise<Body> {
  return (await callApiWithHeaders<Body>(path, options)).body
}

/** Like `callApi`, but also returns the response headers. */
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
    throw new ApiError(
      0,
      'unreachable',
      'The console does not respond. Check that it is still running.',
    )
  })
  const text = await answer.text()
  const content = parseJson(text)
  if (!answer.ok) throw toError(answer.status, content)
  // The console's own routes return these shapes.
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

/** Errors of the console, and errors of the auth server that the console forwards. */
interface Failure {
  readonly error?: { readonly code: string; readonly message: string }
  readonly error_code?: string
  readonly msg?: string
}

function toError(status: number, content: unknown): ApiError {
  const { error, error_code, msg }: Failure = (content ?? {}) as Failure
  if (error?.code === 'no_access') notifyAccessLost()
  if (error) return new ApiError(status, error.code, error.message)
  return new ApiError(status, error_code ?? 'unknown', msg ?? `Unexpected status ${status}.`)
}

export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const listeners = new Set<() => void>()

/** Called when the console no longer accepts the token. */
function notifyAccessLost(): void {
  for (const listener of listeners) listener()
}

/** Whether the console was restarted with another token, so that no call works any more. */
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
