/**
 * @legs safety
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createAuthority } from '@portcullis/test-servers'
import { createResourceMetadata, createVerifier, toRefusal } from '../../../src/verify/index.ts'
import {
  type AuthorizationServer,
  openAuthorizationServer,
  queryOf,
} from '../../support/authorization-server.ts'
import { claimsOf, type SignedInUser } from '../../support/factors.ts'
import { send } from '../../support/http-client.ts'

const redirectUrl = 'http://127.0.0.1:33418/callback'
const host = 'client.example'

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** An MCP server with one tool, which accepts only tokens of our server that are for it. */
async function openMcpServer(t: TestContext, authUrl: string): Promise<URL> {
  let handle: RequestListener = () => {}
  const server = createServer((request, response) => handle(request, response))
  const url = new URL(`http://127.0.0.1:${await listen(t, server)}/mcp`)
  const metadata = createResourceMetadata({ resource: url, authorizationServers: [authUrl] })
  const verifier = createVerifier({ authUrl, audience: url.href, issuer: authUrl })
  handle = async (request, response) => {
    if (request.url === metadata.path) {
      response.setHeader('content-type', 'application/json').end(metadata.body)
      return
    }
    try {
      const { sub } = await verifier.verifyHeader(request.headers.authorization)
      const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
      mcp.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: sub }] }))
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      response.on('close', () => void mcp.close())
      // The SDK declares optional properties without `undefined`.
      await mcp.connect(transport as Parameters<typeof mcp.connect>[0])
      await transport.handleRequest(request, response)
    } catch (error) {
      const refusal = toRefusal(error, metadata)
      if (refusal === undefined) throw error
      response.writeHead(refusal.status, refusal.headers).end(refusal.body)
    }
  }
  return url
}

/** The SDK's client with its own OAuth flow; a user consents in place of the browser. */
async function callTool(
  server: AuthorizationServer,
  mcpUrl: URL,
  user: SignedInUser,
  clientMetadataUrl?: string,
) {
  const kept: Partial<Record<'client' | 'tokens' | 'verifier', unknown>> = {}
  let code = ''
  const provider = {
    redirectUrl,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: {
      client_name: 'An MCP client',
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    clientInformation: () => kept.client,
    saveClientInformation: (value: unknown) => void (kept.client = value),
    tokens: () => kept.tokens,
    saveTokens: (value: unknown) => void (kept.tokens = value),
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (value: unknown) => void (kept.verifier = value),
    async redirectToAuthorization(start: URL) {
      const started = await send(server.url, `${start.pathname}${start.search}`)
      const { authorization_id: id = '' } = queryOf(started)
      await server.details(user, id)
      const { body } = await server.decide(user, id, 'approve')
      code = new URL(body.redirect_url).searchParams.get('code') ?? ''
    },
  } as unknown as OAuthClientProvider
  const connect = async () => {
    const transport = new StreamableHTTPClientTransport(mcpUrl, { authProvider: provider })
    const client = new Client({ name: 'test', version: '1.0.0' })
    try {
      await client.connect(transport as Parameters<typeof client.connect>[0])
      return { client, transport }
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error
      await transport.finishAuth(code)
      return undefined
    }
  }
  const first = await connect()
  assert.equal(first, undefined, 'the first call has no token')
  const second = await connect()
  assert.ok(second)
  const result = await second.client.callTool({ name: 'whoami' })
  await second.client.close()
  const { access_token: token } = kept.tokens as { readonly access_token: string }
  return { result: JSON.stringify(result.content), claims: claimsOf(token) }
}

test('clients of the MCP SDK sign users in to an MCP server', async (t) => {
  const authority = createAuthority('test')
  const { certificate: cert, key } = authority.issue(host)
  let document: object | string = {}
  const site = createHttpsServer({ cert, key }, (request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: '/client' }).end()
    else response.end(typeof document === 'string' ? document : JSON.stringify(document))
  })
  const documentUrl = `https://${host}:${await listen(t, site as unknown as Server)}/client`
  const hosts: string[] = []
  const server = await openAuthorizationServer(
    t,
    {
      AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
      AUTH_OAUTH_SERVER_ALLOW_CLIENT_ID_METADATA: 'true',
    },
    {
      checkers: {
        clientDocuments: {
          ca: authority.certificate,
          internalHosts: [host],
          resolve: async (name) => {
            hosts.push(name)
            return [{ address: '127.0.0.1', family: 4 }]
          },
        },
      },
    },
  )
  if (!server) return
  const mcpUrl = await openMcpServer(t, server.url)
  const user = await server.users.newSignedInUser()
  const toDocument = (more: object = {}) => ({
    client_id: documentUrl,
    client_name: 'Described',
    redirect_uris: ['http://127.0.0.1/callback'],
    ...more,
  })
  const start = async (id: string) => {
    const { answer } = await server.start(
      { client_id: id, client_secret: undefined },
      { redirect_uri: redirectUrl },
    )
    return [answer.status, answer.body.error_code]
  }
  const refused = [400, 'oauth_client_not_found']

  await t.test('a client that registers itself', async () => {
    const { result, claims } = await callTool(server, mcpUrl, user)
    assert.match(result, new RegExp(user.id))
    assert.deepEqual([claims.aud, claims.iss], [mcpUrl.href, server.url])
  })

  await t.test('documents that do not describe their client are refused', async () => {
    for (const wrong of [
      'not JSON',
      'x'.repeat(20_000),
      toDocument({ client_id: 'https://other.example/client' }),
      toDocument({ redirect_uris: ['http://attacker.example/'] }),
      toDocument({ redirect_uris: [] }),
      toDocument({ token_endpoint_auth_method: 'client_secret_basic' }),
      toDocument({ client_secret: 'x' }),
    ]) {
      document = wrong
      assert.deepEqual(await start(documentUrl), refused, JSON.stringify(wrong).slice(0, 80))
    }
    document = toDocument()
    for (const id of [
      documentUrl.replace('/client', '/redirect'),
      documentUrl.replace('/client', '/'),
      documentUrl.replace('/client', '/x/../client'),
      `${documentUrl}#part`,
      documentUrl.replace('https:', 'http:'),
      documentUrl.replace('//', '//user@'),
    ]) {
      assert.deepEqual(await start(id), refused, id)
    }
  })

  await t.test('addresses in the internal network are not requested', async () => {
    for (const target of ['https://127.0.0.1/client', 'https://internal.example/client']) {
      assert.deepEqual(await start(target), refused, target)
    }
  })

  await t.test('a client with a document', async () => {
    const { result, claims } = await callTool(server, mcpUrl, user, documentUrl)
    assert.match(result, new RegExp(user.id))
    assert.equal(claims.client_id, documentUrl)
    const before = hosts.length
    assert.equal((await start(documentUrl))[0], 302)
    assert.equal(hosts.length, before, 'the document is used for an hour')
    const { body: grants } = await send(server.url, '/user/oauth/grants', { token: user.token })
    assert.ok(grants.some(({ client }: { client: { id: string } }) => client.id === documentUrl))
    const path = `/user/oauth/grants?client_id=${encodeURIComponent(documentUrl)}`
    const revoked = await send(server.url, path, { method: 'DELETE', token: user.token })
    assert.equal(revoked.status, 204)
  })
})
