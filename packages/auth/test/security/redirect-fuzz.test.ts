/**
 * @legs safety, endurance
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { openMigratedEnvironment, startAuth } from '../support/auth-program.ts'
import { serviceToken, unlimited } from '../support/crash-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { providerShapes } from '../support/provider-shapes/index.ts'
import { createRandom } from '../support/random.ts'
import { openRawConnection } from '../support/raw-connection.ts'

const rounds = enduranceOr(3_000, 25)
/**
 * How long a client waits for a response; the limit is generous because the machine may be busy.
 */
const patienceMs = 300_000

const allowList = 'https://any.example/mine/**,https://*.preview.example/**,myapp://**'

/** Returns an integer below a limit. */
type Random = (limit: number) => number

/** Random query text, percent-encoded or not, valid or invalid. */
function toStrangeText(random: Random): string {
  const pieces = [
    () => encodeURIComponent(String.fromCodePoint(0x100 + random(0xd700))),
    () => encodeURIComponent(String.fromCodePoint(0x1_0000 + random(0x10_0000))),
    () => encodeURIComponent(String.fromCodePoint(0x80 + random(0x80))),
    () => `%${random(0x80).toString(16).padStart(2, '0')}`,
    // Surrogate halves and bytes that are invalid in UTF-8.
    () => `%ED%${(0xa0 + random(0x20)).toString(16)}%${(0x80 + random(0x40)).toString(16)}`,
    () => ['%FF', '%C3', '%', '%zz', '%u0100', '%EF%BF%BF'][random(6)] ?? '',
    () =>
      ['%0D%0A', '%0d%0aset-cookie:%20planted=1', '%00', '%09', '%7F', '%5C', '%20'][random(7)] ??
      '',
    () =>
      ['..', '/../', '%2e%2e/', '..%2f', '//', '@', ':', '?', '%23', '%3F', '&', '='][random(12)] ??
      '',
    () => ['a', 'login', '/x', '.evil.example', 'x'.repeat(random(3_000))][random(5)] ?? '',
  ]
  return Array.from({ length: random(6) }, () => pieces[random(pieces.length)]?.() ?? '').join('')
}

function toStrangeTarget(random: Random): string {
  const starts = [
    ...['https://site.example', 'https://site.example/', 'https://site.example/a?b=', 'https:'],
    ...['https://site.example/%23', 'https://any.example/mine/', 'https://any.example/mine/?a='],
    ...['https://a.preview.example/', 'https://', 'myapp://', 'myapp://login/', 'myapp:', '//', ''],
  ]
  return `${starts[random(starts.length)]}${toStrangeText(random)}`
}

/** Whether a browser may be redirected to this URL. */
function isPermitted({ protocol, hostname, pathname, port }: URL, providerUrl: URL): boolean {
  if (protocol === 'myapp:' || hostname === 'site.example') return true
  if (hostname === 'any.example') return pathname.startsWith('/mine/')
  if (/^[^.]*\.preview\.example$/.test(hostname)) return true
  return hostname === providerUrl.hostname && port === providerUrl.port
}

test('whatever a request contains, it gets a response, and any redirect is a valid URL (property 48)', async (t) => {
  const env = await openMigratedEnvironment(t)
  const shape = providerShapes.find(({ id }) => id === 'keycloak')
  if (!env || shape === undefined) return
  const seed = Number(process.env['FUZZ_SEED']) || randomInt(2 ** 31)
  t.diagnostic(`FUZZ_SEED=${seed}`)
  const provider = await openOAuthServer(t, shape)
  const server = await startAuth(t, [], {
    ...env,
    ...unlimited,
    ...provider.env,
    AUTH_URI_ALLOW_LIST: allowList,
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    // An open connection would prevent the server from stopping.
    AUTH_DRAIN_TIMEOUT: '24h',
  })
  const { url } = server
  const providerUrl = new URL(provider.url)
  const headers = { 'user-agent': 'fuzz' }
  let locations = 0
  let pages = 0

  const check = ({ status, headers: answered }: HttpAnswer, request: string) => {
    assert.ok(status < 500 || status === 504, `${status} ${request}`)
    assert.equal(answered.get('set-cookie')?.includes('planted=1') ?? false, false, request)
    const location = answered.get('location')
    if (location === null) return
    locations += 1
    assert.match(location, /^[!-~]+$/, request)
    assert.ok(isPermitted(new URL(location), providerUrl), `${location} ${request}`)
  }
  const follow = async (path: string, options: Parameters<typeof send>[2] = {}) => {
    const signal = AbortSignal.timeout(patienceMs)
    const gone = once(signal, 'abort').then(() => {
      throw new Error(`No answer to ${path}`)
    })
    const answer = await Promise.race([send(url, path, { headers, ...options }), gone])
    check(answer, path)
    return answer
  }

  const { body: signedUp } = await send(url, '/signup', { body: { email: newEmail(), password } })
  const token: string = signedUp.access_token
  const flags = ['', '', '&skip_http_redirect=true']
  const startFlow = async (
    random: Random,
    path: string,
    options: Parameters<typeof send>[2] = {},
  ): Promise<string> => {
    const more = `&${toStrangeText(random)}=${toStrangeText(random)}&scopes=${toStrangeText(random)}`
    const target = `&redirect_to=${toStrangeTarget(random)}`
    const { headers: answered } = await follow(`${path}${more}${target}`, options)
    const location = answered.get('location')
    return location === null ? '' : (new URL(location).searchParams.get('state') ?? '')
  }
  const makeLink = async (): Promise<string> => {
    const { status, body } = await send(url, '/admin/generate_link', {
      body: { type: 'magiclink', email: newEmail() },
      token: serviceToken,
    })
    assert.equal(status, 200)
    return `/verify?type=${body.verification_type}&token=${body.hashed_token}`
  }
  /** Browsers do not percent-encode header values that a script sets. */
  const strangeHeader = (random: Random) => {
    const text = Array.from({ length: random(9) }, () => String.fromCharCode(0xa1 + random(0x5e)))
    return `https://site.example/${text.join('')}`
  }

  const requests: readonly ((random: Random) => Promise<unknown>)[] = [
    (random) => follow(`/verify?type=signup&token=none&redirect_to=${toStrangeTarget(random)}`),
    (random) => follow(`/verify?type=${toStrangeText(random)}&token=pkce_${toStrangeText(random)}`),
    async (random) => follow(`${await makeLink()}&redirect_to=${toStrangeTarget(random)}`),
    async (random) => follow(await makeLink(), { headers: { redirect_to: strangeHeader(random) } }),
    async (random) => follow(await makeLink(), { headers: { referer: strangeHeader(random) } }),
    (random) => startFlow(random, '/authorize?provider=keycloak'),
    (random) => startFlow(random, `/authorize?provider=${toStrangeText(random)}`),
    (random) =>
      startFlow(random, `/user/identities/authorize?provider=keycloak${flags[random(3)]}`, {
        token,
      }),
    (random) => follow(`/user/identities/confirm?state=${toStrangeText(random)}`),
    async (random) => {
      const path = '/user/identities/authorize?provider=keycloak&skip_http_redirect=true'
      const target = `&redirect_to=${toStrangeTarget(random)}`
      const started = await follow(`${path}${target}`, { token })
      if (started.status !== 200) return
      const { origin, pathname, search, searchParams } = new URL(started.body.url)
      const page = await follow(`${pathname}${search}`)
      assert.equal(page.status, 200)
      pages += 1
      const [cookie = ''] = (page.headers.get('set-cookie') ?? '').split(';')
      const cancelled = await follow(pathname, {
        body: `state=${searchParams.get('state')}&choice=${toStrangeText(random)}`,
        headers: { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' },
      })
      assert.equal(cancelled.status, 303)
    },
    (random) => follow(`/callback?state=${toStrangeText(random)}&error=${toStrangeText(random)}`),
    async (random) => {
      const state = await startFlow(random, '/authorize?provider=keycloak')
      const error = `error=${toStrangeText(random)}&error_description=${toStrangeText(random)}`
      await follow(`/callback?state=${state}&${random(2) === 0 ? error : 'error=x'}`)
    },
    async (random) => {
      const state = await startFlow(random, '/authorize?provider=keycloak')
      await follow(`/callback?state=${state}&code=${toStrangeText(random)}`)
    },
    async (random) => {
      const state = await startFlow(random, '/authorize?provider=keycloak')
      const form = `state=${state}&error=${toStrangeText(random)}`
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      await follow('/callback', { body: form, headers: { ...headers, ...type } })
    },
    async (random) => {
      const connection = await openRawConnection(t, url)
      const target = `https://site.example/${String.fromCodePoint(0xa1 + random(0xd000))}`
      connection.write(`GET /verify?type=signup&token=none&redirect_to=${target} HTTP/1.1\r\n`)
      connection.write('host: x\r\nconnection: close\r\n\r\n')
      const received = await connection.received
      assert.match(received, /^HTTP\/1\.1 (?:303|400) /)
      assert.match(received, /^[\r\n -~]*$/)
    },
  ]
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      requests.map((request, at) => {
        const next = createRandom(seed + round * requests.length + at)
        return request((limit) => Math.floor(next() * limit))
      }),
    )
  }
  t.diagnostic(`${locations} redirects`)
  assert.ok(pages > 0, 'no consent page was opened')
  assert.ok(locations > rounds * 5, `${locations} redirects only`)

  // With a valid link, the redirect contains the tokens and no request waits.
  const good = await follow(
    `${await makeLink()}&redirect_to=https://site.example/%C4%80%F0%9F%98%80`,
  )
  assert.match(
    good.headers.get('location') ?? '',
    /^https:\/\/site\.example\/%C4%80%F0%9F%98%80#access_token=/,
  )
  assert.equal(await server.stop('SIGTERM'), 0)
})
