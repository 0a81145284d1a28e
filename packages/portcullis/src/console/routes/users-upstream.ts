import { ConsoleError } from '../error-answers.ts'
import { parseObject } from '../health/ask.ts'
import { toKeyHeaders } from '../health/check-auth.ts'
import type { AuthTarget } from '../settings.ts'
import { callUpstream } from '../upstream.ts'

export interface AdminCall {
  readonly method: string
  readonly path: string
  readonly query?: URLSearchParams
  readonly body?: unknown
}

/** Calls the auth server as an administrator. @throws {ConsoleError} when it does not take our key. */
export async function callAsAdmin(auth: AuthTarget, call: AdminCall): Promise<Response> {
  const { method, path, query, body } = call
  const search = query && query.size > 0 ? `?${query}` : ''
  const answer = await callUpstream('The auth server', `${auth.url}${path}${search}`, {
    method,
    headers: {
      ...toKeyHeaders(await auth.key()),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!(await isKeyRefused(answer))) return answer
  throw new ConsoleError(
    502,
    'key_refused',
    `The auth server refuses the console's key (${answer.status}): start the console with a service key of this server.`,
  )
}

/** What the server says of a key is for whoever wrote the call; the person at the page has written none. */
async function isKeyRefused(answer: Response): Promise<boolean> {
  if (answer.status !== 403) return answer.status === 401
  const { error_code: code } = parseObject(await answer.clone().text()) ?? {}
  return code === 'bad_jwt' || code === 'not_admin'
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
