import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'

/** The folder of an unpacked Keycloak (org.keycloak:keycloak-quarkus-dist on Maven Central). */
const { AUTH_TEST_KEYCLOAK: folder } = process.env

/** Why tests with a real Keycloak are skipped; false if they run. */
export const keycloakMissing =
  folder === undefined && 'no Keycloak: set AUTH_TEST_KEYCLOAK to its folder; it needs Java 17'

export const keycloakClient = {
  clientId: 'portcullis',
  secret: 'the secret of the client',
  redirectUri: 'https://auth.example/callback',
} as const

export interface Keycloak {
  readonly issuer: string
  /** Signs the user in on the login page, and returns the URL that the browser is redirected to. */
  logIn(authorizeUrl: string): Promise<string>
  /** Adds a realm with the same user, and returns its URL, which is its issuer and entity ID. */
  addRealm(name: string, clients: readonly object[]): Promise<string>
  /** Signs the user in on the login page, and returns the fields of the form that the browser posts. */
  logInToForm(signInUrl: string): Promise<Readonly<Record<string, string>>>
}

const user = {
  username: 'ada',
  email: 'ada@acme.example',
  emailVerified: true,
  firstName: 'Ada',
  lastName: 'Lovelace',
}
const password = 'the password of the user'

/** Starts Keycloak with a realm for OpenID Connect and a user, all in memory. */
export async function openKeycloak(t: TestContext): Promise<Keycloak> {
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const options = ['start-dev', '--db=dev-mem', `--http-port=${port}`, '--http-host=127.0.0.1']
  const started = spawn(join(folder ?? '', 'bin/kc.sh'), options, {
    env: {
      ...process.env,
      KC_BOOTSTRAP_ADMIN_USERNAME: 'admin',
      KC_BOOTSTRAP_ADMIN_PASSWORD: password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  t.after(() => process.kill(-(started.pid ?? 0), 'SIGKILL'))
  for await (const line of createInterface(started.stdout)) if (/Listening on/.test(line)) break
  started.stdout.resume()
  const client = {
    clientId: keycloakClient.clientId,
    secret: keycloakClient.secret,
    redirectUris: [keycloakClient.redirectUri],
    attributes: { 'pkce.code.challenge.method': 'S256' },
  }
  return {
    issuer: await addRealm(origin, 'acme', [client]),
    addRealm: (name, clients) => addRealm(origin, name, clients),
    async logIn(authorizeUrl) {
      const { headers } = await logIn(authorizeUrl)
      return headers.get('location') ?? ''
    },
    async logInToForm(signInUrl) {
      const { page } = await logIn(signInUrl)
      const fields = page.matchAll(/<input[^>]* name="([^"]+)" value="([^"]*)"/gi)
      return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]))
    },
  }
}

async function addRealm(
  origin: string,
  realm: string,
  clients: readonly object[],
): Promise<string> {
  const form = { client_id: 'admin-cli', username: 'admin', password, grant_type: 'password' }
  const tokens = await readJson(`${origin}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const response = await fetch(`${origin}/admin/realms`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens['access_token']}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      realm,
      enabled: true,
      sslRequired: 'none',
      clients,
      users: [{ ...user, enabled: true, credentials: [{ type: 'password', value: password }] }],
    }),
  })
  if (!response.ok) throw new Error(`Keycloak refused the realm: ${await response.text()}`)
  return `${origin}/realms/${realm}`
}

async function readJson(url: string, init?: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, init)
  const body = await response.json()
  if (!response.ok) throw new Error(`${url}: ${JSON.stringify(body)}`)
  return body
}

async function logIn(url: string) {
  const page = await fetch(url, { redirect: 'manual' })
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(await page.text()) ?? []
  const response = await fetch(action.replaceAll('&amp;', '&'), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: new URLSearchParams({ username: user.username, password }),
  })
  return { headers: response.headers, page: await response.text() }
}

/** What Keycloak has sent during one sign-in. */
export interface KeycloakExchange {
  readonly issuer: string
  readonly nonce: string
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  readonly discovery: Readonly<Record<string, unknown>>
  readonly keys: Readonly<Record<string, unknown>>
  /** The parameters of the redirect, without `state`. */
  readonly redirect: Readonly<Record<string, string>>
  readonly tokens: Readonly<Record<string, unknown>>
  readonly userinfo: Readonly<Record<string, unknown>>
}

/** Signs in without our server, and records all responses. */
export async function recordExchange({ issuer, logIn: open }: Keycloak): Promise<KeycloakExchange> {
  const { clientId, secret, redirectUri } = keycloakClient
  const discovery = await readJson(`${issuer}/.well-known/openid-configuration`)
  const nonce = randomBytes(16).toString('base64url')
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid profile email',
    nonce,
    state: 'x',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const returned = new URL(await open(`${discovery['authorization_endpoint']}?${query}`))
  const { state: _, ...redirect } = Object.fromEntries(returned.searchParams)
  const tokens = await readJson(`${discovery['token_endpoint']}`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: redirect['code'] ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: clientId,
      client_secret: secret,
    }),
  })
  const headers = { authorization: `Bearer ${tokens['access_token']}` }
  return {
    issuer,
    nonce,
    nowMs: Date.now(),
    discovery,
    keys: await readJson(`${discovery['jwks_uri']}`),
    redirect,
    tokens,
    userinfo: await readJson(`${discovery['userinfo_endpoint']}`, { headers }),
  }
}
