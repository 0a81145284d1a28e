import type { GatewayAnswer, GatewayRequest } from './gateway.ts'

export interface PostLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** Reference 12.1. */
export const postLimits: PostLimits = { timeoutMs: 10_000, maxBytes: 65_536 }

/** @throws an error in words for an operator, without anything of the request but the host. */
export async function postMessage(
  { url, headers = {}, body }: GatewayRequest,
  { timeoutMs, maxBytes }: PostLimits,
  stopped: AbortSignal,
): Promise<GatewayAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const { host } = new URL(url)
  try {
    const response = await fetch(url, {
      method: 'POST',
      // What is in the request is for nobody else.
      redirect: 'manual',
      signal: AbortSignal.any([timeout, stopped]),
      headers: {
        accept: 'application/json',
        'user-agent': 'portcullis-auth',
        ...('json' in body && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: 'json' in body ? JSON.stringify(body.json) : new URLSearchParams(body.form),
    })
    const text = await readText(response, maxBytes)
    if (text === undefined) throw new Error(`${host} answered more than ${maxBytes} bytes`)
    return { status: response.status, body: parseJson(text) }
  } catch (error) {
    if (timeout.aborted) throw new Error(`${host} did not answer within ${timeoutMs} ms`)
    if (error instanceof TypeError) {
      throw new Error(`${host} cannot be reached: ${toReason(error.cause ?? error)}`)
    }
    throw error
  }
}

async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An error of several addresses has no text of its own. */
function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'no connection'
  return error.message === '' ? code : error.message
}
