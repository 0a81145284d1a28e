import { ConsoleError } from '../error-answers.ts'
import type { AuthTarget } from '../settings.ts'
import { callUpstream } from '../upstream.ts'

export interface AdminCall {
  readonly method: string
  readonly path: string
  readonly query?: URLSearchParams
  readonly body?: unknown
}

/** Calls the auth server as an administrator. */
export async function callAsAdmin(auth: AuthTarget, call: AdminCall): Promise<Response> {
  const { method, path, query, body } = call
  const search = query && query.size > 0 ? `?${query}` : ''
  return callUpstream('The auth server', `${auth.url}${path}${search}`, {
    method,
    headers: {
      authorization: `Bearer ${await auth.key()}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** The text of an answer. @throws {ConsoleError} when somebody else answers in the auth server's place. */
export async function readJson(answer: Response): Promise<string> {
  const text = await answer.text()
  const type = answer.headers.get('content-type') ?? ''
  if (text === '' || /^application\/json\b/.test(type)) return text
  throw new ConsoleError(
    502,
    'upstream_unexpected',
    `The auth server's address answered with status ${answer.status}, and not as an auth server does.`,
  )
}
