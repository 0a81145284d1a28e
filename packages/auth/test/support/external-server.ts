import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type FlowServer, openFlowServer } from './flow-server.ts'
import { type HttpAnswer, send } from './http-client.ts'
import { type OAuthServer, openOAuthServer, type ProviderResponse } from './oauth-server.ts'
import { openOAuth1Server } from './oauth1-server.ts'
import type { Account } from './provider-shape.ts'
import { providerShapes } from './provider-shapes/index.ts'

/** The redirect of a browser to a provider. */
export interface ProviderRedirect {
  readonly answer: HttpAnswer
  /** The authorization URL of the provider. */
  readonly url: URL
  readonly state: string
  /** `name=value`, or empty. */
  readonly cookie: string
}

export interface ExternalServer extends FlowServer {
  /** Returns the provider with this id. */
  at(id: string): OAuthServer
  /** Requests `/authorize` with a query. */
  startFlow(
    query: Readonly<Record<string, string>>,
    headers?: Record<string, string>,
  ): Promise<ProviderRedirect>
  /** Sends the browser back to the callback, with its cookies. */
  finishFlow(agreement: ProviderResponse, cookie: string): Promise<HttpAnswer>
  /** Runs the whole flow with a user who agrees, and returns the response of the callback. */
  signInWith(
    provider: string,
    account: Account,
    query?: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer>
}

/**
 * Opens a server that is registered with some providers. Returns undefined if PostgreSQL is
 * missing.
 */
export async function openExternalServer(
  t: TestContext,
  ids: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ExternalServer | undefined> {
  const shapes = providerShapes.filter(({ id }) => ids.includes(id))
  const providers = await Promise.all(
    shapes.map((shape) =>
      shape.requestTokenPath === undefined ? openOAuthServer(t, shape) : openOAuth1Server(t, shape),
    ),
  )
  const registered = Object.assign({}, ...providers.map((provider) => provider.env))
  const server = await openFlowServer(t, { ...registered, ...env })
  if (!server) return undefined
  const at = (id: string): OAuthServer => {
    const provider = providers.find(({ shape }) => shape.id === id)
    if (provider === undefined) throw new Error(`The test has no ${id}`)
    return provider
  }
  const startFlow: ExternalServer['startFlow'] = async (query, headers = {}) => {
    const answer = await send(server.url, `/authorize?${new URLSearchParams(query)}`, { headers })
    const url = new URL(answer.headers.get('location') ?? 'none:')
    const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
    return { answer, url, state: url.searchParams.get('state') ?? '', cookie }
  }
  const finishFlow: ExternalServer['finishFlow'] = ({ url, form }, cookie) => {
    const { pathname, search } = new URL(url)
    const headers = { cookie, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
    if (form === undefined) return send(server.url, `${pathname}${search}`, { headers })
    return send(server.url, pathname, {
      body: `${new URLSearchParams(form)}`,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    })
  }
  return {
    ...server,
    clock: server.clock,
    at,
    startFlow,
    finishFlow,
    async signInWith(id, account, query = {}) {
      const provider = at(id)
      provider.account = account
      const { answer, url, cookie } = await startFlow({ provider: id, ...query })
      if (answer.status !== 302) throw new Error(`/authorize: ${JSON.stringify(answer.body)}`)
      return finishFlow(await provider.agree(`${url}`), cookie)
    },
  }
}

/** A new account at Keycloak, the provider without special behaviour. */
export function newAccount(more: Account = {}): Account & { readonly email: string } {
  const sub = randomUUID()
  return { sub, email: `${sub}@realm.example`, email_verified: true, name: 'Ada', ...more }
}
