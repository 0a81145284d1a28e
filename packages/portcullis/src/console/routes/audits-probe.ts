import { BodyTooLargeError } from '../bounded-body.ts'
import { ConsoleError } from '../error-answers.ts'
import { callUpstream } from '../upstream.ts'
import type { AuditPlan } from './audits-plan.ts'

/** The answer to the probe has a hundred bytes. */
const maxBytes = 1024 * 1024

/**
 * Sends the plainest of queries first, so that a wrong address is one sentence instead of dozens of failed
 * audits. @throws {ConsoleError} unless a GraphQL server answers.
 */
export async function probeServer({ url, headers }: AuditPlan): Promise<void> {
  const answer = await callUpstream('The server to audit', url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
    },
    body: JSON.stringify({ query: '{ __typename }' }),
    maxBytes,
  })
  const text = await answer.text().catch((error: unknown) => {
    if (error instanceof BodyTooLargeError) return error
    return ''
  })
  const complaint =
    text instanceof Error
      ? `, and ${text.message}. Is this the address of a GraphQL server?`
      : findComplaint(answer, text)
  if (complaint === undefined) return
  const status = `${answer.status} ${answer.statusText}`.trim()
  throw new ConsoleError(502, 'not_graphql', `${url} answered ${status}${complaint}`)
}

/** The rest of the sentence; undefined when the answer is GraphQL. */
function findComplaint({ status, headers }: Response, text: string): string | undefined {
  if (status === 401 || status === 403) {
    return '. Send credentials as a header, such as Authorization: Bearer TOKEN.'
  }
  if (status === 404) return '. Is the path right? Many servers have GraphQL at /graphql.'
  if (status === 429) return '. It gets too many requests already: wait, and try again.'
  if (status >= 300 && status < 400) {
    return ` and leads to ${headers.get('location') ?? 'another address'}. Audit that one instead.`
  }
  if (isGraphql(text)) return undefined
  if (headers.get('content-type')?.includes('text/html')) {
    return ' with an HTML page instead of GraphQL. Is the path right?'
  }
  if (status >= 500) return ' and no GraphQL. Is the server healthy?'
  return ' and no GraphQL. Is this the address of a GraphQL server?'
}

function isGraphql(text: string): boolean {
  try {
    const result: unknown = JSON.parse(text)
    return typeof result === 'object' && result !== null && ('data' in result || 'errors' in result)
  } catch {
    return false
  }
}
