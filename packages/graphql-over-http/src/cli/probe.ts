import { discardBody, readBodyCopy } from '../audits/body.ts'
import { CommandError } from './command-error.ts'
import { describeFailure, isClosedConnection } from './failure.ts'

export interface ProbeOptions {
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
}

/**
 * Sends the simplest query and throws a CommandError unless a GraphQL server responds, so that a
 * wrong address is reported in one sentence instead of dozens of failed audits.
 */
export async function probe(url: string, { headers, timeoutMs }: ProbeOptions): Promise<void> {
  const send = async () => {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json;q=0.9',
      },
      body: JSON.stringify({ query: '{ __typename }' }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { response, body: await readBodyCopy(response) }
  }
  const { response, body } = await send()
    // The server may have just closed a kept-alive connection, so the request is sent once more.
    .catch((error: unknown) => (isClosedConnection(error) ? send() : Promise.reject(error)))
    .catch((error: unknown) => {
      throw new CommandError(describeFailure(error, url, timeoutMs), { cause: error })
    })
  await discardBody(response.body)
  const mismatch = describeMismatch(response, body)
  if (mismatch !== undefined) throw new CommandError(`${url} ${mismatch}`)
}

/**
 * The reason why a response is not from a GraphQL server, as the continuation of a sentence that
 * starts with the address.
 */
function describeMismatch(response: Response, body: Uint8Array | undefined): string | undefined {
  const { status } = response
  const responded = `responded with ${toPrintable(`${status} ${response.statusText}`)}`
  const type = toPrintable(response.headers.get('content-type') ?? '')
  if (status === 401 || status === 403) {
    return `${responded}: pass credentials, for example --header 'Authorization: Bearer TOKEN'.`
  }
  if (status === 404) {
    return `${responded}: is the path right? Many servers have GraphQL at /graphql.`
  }
  if (status >= 300 && status < 400) {
    const location = toPrintable(response.headers.get('location') ?? 'another address')
    return `redirects to ${location}: audit that address instead.`
  }
  if (isGraphql(body)) return undefined
  if (type.includes('text/html')) {
    return `${responded} and an HTML page instead of GraphQL: is the path right?`
  }
  if (status === 429) {
    return `${responded}: raise its limit for this address, or try again later.`
  }
  if (status >= 500) return `${responded} and no GraphQL body: is the server healthy?`
  const content = type === '' ? 'no content type' : `the content type ${type}`
  return `${responded}, ${content} and no GraphQL body: is this the address of a GraphQL server?`
}

function isGraphql(body: Uint8Array | undefined): boolean {
  try {
    const result: unknown = JSON.parse(new TextDecoder().decode(body))
    return typeof result === 'object' && result !== null && ('data' in result || 'errors' in result)
  } catch {
    return false
  }
}

/** Removes control characters, so that a server cannot send escape sequences to the terminal. */
function toPrintable(text: string): string {
  return text.replace(/\p{C}/gu, '').trim()
}
