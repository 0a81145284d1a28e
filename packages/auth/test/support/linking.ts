import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ExternalServer } from './external-server.ts'
import { queryOf } from './flow-server.ts'
import { type HttpAnswer, send } from './http-client.ts'
import type { Account } from './provider-shape.ts'

const verifier = 'v'.repeat(64)
const challenge = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
} as const

export type LinkingFlow = 'pkce' | 'implicit'

const authOrigin = 'https://auth.example'

/** Requests the URL that the browser has to open to link an identity. */
export async function requestLinkUrl(
  { url }: ExternalServer,
  token: string,
  flow: LinkingFlow,
  provider = 'keycloak',
): Promise<HttpAnswer> {
  const query = new URLSearchParams({
    provider,
    skip_http_redirect: 'true',
    ...(flow === 'pkce' && challenge),
  })
  return send(url, `/user/identities/authorize?${query}`, { token })
}

/** `name=value`, or empty. */
export function cookieOf(answer: HttpAnswer): string {
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

export function pathOf(url: string): string {
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

/** Presses a button on the page that asks for consent to the link. */
export function decide(
  { url }: ExternalServer,
  page: string,
  cookie: string,
  choice: 'link' | 'cancel' = 'link',
  origin: string = authOrigin,
): Promise<HttpAnswer> {
  const state = new URL(page).searchParams.get('state') ?? ''
  return send(url, pathOf(page), {
    method: 'POST',
    body: `${new URLSearchParams({ state, choice })}`,
    headers: { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' },
  })
}

export function exchange({ post }: ExternalServer, code: string): Promise<HttpAnswer> {
  return post('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier })
}

/**
 * Runs the whole flow like the client in a new browser. With PKCE, returns the response of the code
 * exchange, or that of the callback if it has no code; otherwise returns the response of the
 * callback.
 */
export async function link(
  server: ExternalServer,
  token: string,
  account: Account,
  { provider = 'keycloak', flow = 'pkce' as LinkingFlow } = {},
): Promise<HttpAnswer> {
  const started = await requestLinkUrl(server, token, flow, provider)
  assert.equal(started.status, 200, JSON.stringify(started.body))
  server.at(provider).account = account
  if (flow === 'pkce') {
    const back = await server.finishFlow(await server.at(provider).agree(started.body.url), '')
    const { code } = queryOf(back)
    return code === undefined ? back : exchange(server, code)
  }
  const cookie = cookieOf(await send(server.url, pathOf(started.body.url)))
  const agreed = await decide(server, started.body.url, cookie)
  const there = agreed.headers.get('location') ?? ''
  return server.finishFlow(await server.at(provider).agree(there), cookie)
}
