import { createHmac } from 'node:crypto'

/** What is signed (RFC 5849, section 3.4), by HMAC-SHA1 as it is the only way of those who have it. */
export interface OAuth1Request {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Those of the header: `oauth_consumer_key`, … */
  readonly parameters: Readonly<Record<string, string>>
}

export interface OAuth1Secrets {
  readonly client: string
  /** Of the token that is used; empty where there is none yet. */
  readonly token: string
}

export function signOAuth1(request: OAuth1Request, secrets: OAuth1Secrets): string {
  const { origin, pathname, searchParams } = new URL(request.url)
  const parameters = [...searchParams, ...Object.entries(request.parameters)]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted((one, other) => compare(one[0], other[0]) || compare(one[1], other[1]))
    .map((pair) => pair.join('='))
    .join('&')
  const text = [request.method, `${origin}${pathname}`, parameters].map(encode).join('&')
  const key = [secrets.client, secrets.token].map(encode).join('&')
  return createHmac('sha1', key).update(text).digest('base64')
}

export function toOAuth1Header(request: OAuth1Request, secrets: OAuth1Secrets): string {
  const all = { ...request.parameters, oauth_signature: signOAuth1(request, secrets) }
  const parts = Object.entries(all).map(([name, value]) => `${encode(name)}="${encode(value)}"`)
  return `OAuth ${parts.join(', ')}`
}

/** By code units, and not as people of a language would sort. */
function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** More than URLs need. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
