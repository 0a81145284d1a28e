import type { TestContext } from 'node:test'
import type { AppSettings } from '../../../src/app.ts'
import { type FlowServer, openFlowServer } from '../flow-server.ts'
import { type HttpAnswer, send } from '../http-client.ts'
import {
  createIdentityProvider,
  createKey,
  type ResponseOptions,
  readRequest,
  type TestIdentityProvider,
} from './identity-provider.ts'

export const entityId = 'https://auth.example/sso/saml/metadata'
export const acsUrl = 'https://auth.example/sso/saml/acs'

/** One key for all servers of a file, because creating it is expensive. */
const serverKey = createKey()

export const samlEnvironment = {
  AUTH_SAML_ENABLED: 'true',
  AUTH_SAML_PRIVATE_KEY: serverKey.export({ type: 'pkcs1', format: 'der' }).toString('base64'),
  AUTH_SAML_RATE_LIMIT_ASSERTION: '1000000',
  AUTH_RATE_LIMIT_SSO: '1000000',
} as const

interface Company {
  readonly id: string
  readonly idp: TestIdentityProvider
}

interface PostOptions {
  readonly relayState?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface SsoServer extends FlowServer {
  readonly serverKey: typeof serverKey
  /** Adds an identity provider. */
  addCompany(fields?: object, entityId?: string): Promise<Company>
  /** Starts a sign-in as the client library does. */
  start(body: object): Promise<{ readonly url: string } & ReturnType<typeof readRequest>>
  /** Posts a response as a browser does. */
  postResponse(xml: string, options?: PostOptions): Promise<HttpAnswer>
  /** Runs the whole flow. */
  signIn(company: Company, options?: Partial<ResponseOptions>, body?: object): Promise<HttpAnswer>
}

/** Opens a server with SAML. Returns undefined if PostgreSQL is missing. */
export async function openSsoServer(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  checkers: AppSettings['checkers'] = undefined,
): Promise<SsoServer | undefined> {
  const server = await openFlowServer(t, { ...samlEnvironment, ...env }, { checkers })
  if (!server) return undefined
  const start: SsoServer['start'] = async (body) => {
    const { body: answer } = await server.post('/sso', { skip_http_redirect: true, ...body })
    return { url: answer.url, ...readRequest(answer.url) }
  }
  const postResponse: SsoServer['postResponse'] = (xml, { relayState, headers } = {}) =>
    send(server.url, '/sso/saml/acs', {
      method: 'POST',
      body: `${new URLSearchParams({
        SAMLResponse: Buffer.from(xml).toString('base64'),
        ...(relayState !== undefined && { RelayState: relayState }),
      })}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
  return {
    ...server,
    clock: server.clock,
    serverKey,
    start,
    postResponse,
    async addCompany(fields = {}, name) {
      const idp = createIdentityProvider(acsUrl, entityId, name)
      const { status, body } = await send(server.url, '/admin/sso/providers', {
        token: server.serviceToken,
        body: { type: 'saml', metadata_xml: idp.metadata(), ...fields },
      })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return { id: body.id, idp }
    },
    async signIn({ id, idp }, options = {}, body = {}) {
      const { id: requestId, relayState } = await start({ provider_id: id, ...body })
      const xml = idp.createResponse({
        requestId,
        nowMs: server.clock.now(),
        attributes: { email: ['someone@company.example'] },
        ...options,
      })
      return await postResponse(xml, { relayState })
    },
  }
}
