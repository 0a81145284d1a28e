import type { AuditFail, AuditRequest } from '@portcullis/graphql-over-http/audits'

/** What was sent and what came back, as text for people. */
export interface AuditExchange {
  readonly request: string
  readonly status: number
  readonly response: string
}

const shownCharacters = 4_000
const longestBytes = 65_536

/** Of a failed audit. Its response stays readable. */
export async function toExchange({ request, response }: AuditFail): Promise<AuditExchange> {
  const { status, statusText } = response
  // A cookie may be somebody's session.
  const headers = [...response.headers].map(
    ([name, value]) => `${name}: ${name === 'set-cookie' ? '(left out)' : value}`,
  )
  const head = [`${status} ${statusText}`.trim(), ...headers].join('\n')
  const body = await readStart(response)
  return {
    request: toRequestText(request),
    status,
    response: body === '' ? head : `${head}\n\n${body}`,
  }
}

function toRequestText({ method, search, accept, contentType, body }: AuditRequest): string {
  const lines = [search ? `${method} ?${new URLSearchParams(search)}` : method]
  if (accept !== undefined) lines.push(`accept: ${accept}`)
  if (contentType !== undefined) lines.push(`content-type: ${contentType}`)
  return body === undefined ? lines.join('\n') : `${lines.join('\n')}\n\n${body}`
}

/** Some servers never end what they send. */
async function readStart(response: Response): Promise<string> {
  const reader = response.clone().body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let length = 0; length < longestBytes && text.length <= shownCharacters; ) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.byteLength
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    return '(the body could not be read)'
  }
  // Not awaited: a copy is only done being cancelled once the original is cancelled too.
  void reader.cancel().catch(() => undefined)
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}
