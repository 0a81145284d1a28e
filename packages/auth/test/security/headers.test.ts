/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SignJWT } from 'jose'
import { jwtSecret } from '../support/auth-server.ts'
import { openCaptchaService, toCaptchaEnvironment } from '../support/captcha-service.ts'
import { createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { type FlowServer, openFlowServer } from '../support/flow-server.ts'
import {
  type HttpAnswer,
  newEmail,
  password,
  type RequestOptions,
  send,
} from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

type Headers = Readonly<Record<string, string>>

const evil = 'https://evil.example/'

/**
 * Every header that the server reads, and some that other servers read, with values of an attacker.
 */
const headers: Headers = {
  'x-supabase-api-version': '2024-01-01',
  'x-jwt-aud': 'admin',
  redirect_to: evil,
  authorization: 'Bearer x.y.z',
  dpop: 'x.y.z',
  apikey: 'service_role',
  cookie: 'sb-access-token=x; external=x',
  'content-type': 'application/x-www-form-urlencoded',
  accept: 'text/html',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
  'x-client-info': 'supabase-js/2',
  'x-use-cookie': 'true',
  'x-session-tag': 'admin',
  origin: evil.slice(0, -1),
  referer: evil,
  'sec-fetch-mode': 'navigate',
  'sec-purpose': 'prefetch',
  purpose: 'prefetch',
  'x-purpose': 'preview',
  'x-moz': 'prefetch',
  'last-event-id': '1',
  'if-match': 'W/"1"',
  'x-forwarded-for': '127.0.0.1',
  forwarded: 'for=127.0.0.1',
  'x-real-ip': '127.0.0.1',
  'x-client-ip': '127.0.0.1',
  'cf-connecting-ip': '127.0.0.1',
  'true-client-ip': '127.0.0.1',
  'sb-forwarded-for': '127.0.0.1',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-http-method-override': 'DELETE',
  'x-original-url': '/admin/users',
  'x-request-id': 'admin',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  baggage: 'role=admin',
}

/**
 * These headers select an audience or a redirect; forbidden values are refused without any effect.
 */
const refusable: ReadonlySet<string> = new Set(['x-jwt-aud', 'redirect_to'])

/** Browsers send these headers with prefetch requests. */
const ahead: ReadonlySet<string> = new Set(['sec-purpose', 'purpose', 'x-purpose', 'x-moz'])

/** Headers that proxies set. */
const forwarding = /^(?:forwarded$|x-forwarded-|x-real-ip|x-client-ip|cf-|true-client|sb-forwarded)/

/**
 * Headers that the server reads are tested one at a time, and the others in groups to save time.
 */
const trials: Readonly<Record<string, Headers>> = {
  ...pickEach('x-supabase-api-version', 'x-jwt-aud', 'redirect_to', 'authorization'),
  'sec-purpose': pick((name) => ahead.has(name)),
  'proxy headers': pick((name) => forwarding.test(name)),
  others: pick((name) => !isTriedAlone(name) && !ahead.has(name) && !forwarding.test(name)),
}

function pick(isWanted: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isWanted(name)))
}

function pickEach(...names: readonly string[]): Record<string, Headers> {
  return Object.fromEntries(names.map((name) => [name, pick((other) => other === name)]))
}

function isTriedAlone(name: string): boolean {
  return name === 'x-supabase-api-version' || name === 'authorization' || refusable.has(name)
}

/** The response that a client gets, and the effects of the request. */
interface Outcome {
  readonly status: number
  readonly code: string | null
  /** The secrets in the response. */
  readonly secrets: readonly string[]
  /** The host of a redirect. */
  readonly host: string | undefined
  readonly effects: unknown
}

/** A request that must be refused or reveal nothing. Each scene is created for one request. */
interface Scene {
  readonly path: string
  readonly options: RequestOptions
  /** The state of the user concerned. */
  readonly effects: () => Promise<unknown>
}

type MakeScene = () => Promise<Scene>

function toOutcome(answer: HttpAnswer, effects: unknown): Outcome {
  const { status, body, headers: answered } = answer
  const location = answered.get('location')
  const text = `${JSON.stringify(body)} ${location}`
  return {
    status,
    code: answered.get('x-sb-error-code'),
    secrets: ['access_token', 'refresh_token', '?code='].filter((name) => text.includes(name)),
    host: location === null ? undefined : new URL(location, 'https://here.example').hostname,
    effects,
  }
}

/** Sends the request of a scene with additional headers. */
async function play(url: string, { path, options, effects }: Scene, added: Headers) {
  const before = await effects()
  const answer = await send(url, path, {
    ...options,
    headers: { ...added, ...toAuthorization(options), ...options.headers },
  })
  return { before, outcome: toOutcome(answer, await effects()), answer }
}

/** Keeps the token of the scene, which an added header must not replace. */
function toAuthorization({ token }: RequestOptions): Headers {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** Intended differences and their reasons. */
type Difference = { readonly why: string } & Partial<Outcome>

/** By scene and header. */
type Differences = Readonly<Record<string, Readonly<Record<string, Difference>>>>

const inDialect = (difference: Difference) => ({
  'x-supabase-api-version': difference,
  'all together': difference,
})

async function checkScenes(
  t: TestContext,
  url: string,
  scenes: Readonly<Record<string, MakeScene>>,
  differences: Differences = {},
): Promise<void> {
  const together = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !refusable.has(name) && !ahead.has(name)),
  )
  for (const [name, makeScene] of Object.entries(scenes)) {
    await t.test(`no header changes: ${name} (property 56)`, async () => {
      const { outcome: expected } = await play(url, await makeScene(), {})
      for (const [header, added] of Object.entries({ ...trials, 'all together': together })) {
        const { outcome, before } = await play(url, await makeScene(), added)
        const { why: _, ...different } = differences[name]?.[header] ?? { why: '' }
        const isRefused = outcome.status === 400 && outcome.code === 'validation_failed'
        if (refusable.has(header) && isRefused) {
          assert.deepEqual([outcome.effects, outcome.secrets], [before, []], `${name}: ${header}`)
        } else {
          assert.deepEqual(outcome, { ...expected, ...different }, `${name}: ${header}`)
        }
      }
    })
  }
}

/** Bodies are compared without personal values. */
function toComparable({ status, body, headers: answered }: HttpAnswer): unknown {
  const text = JSON.stringify(body)
    .replaceAll(/[\w.-]+@example\.com/g, 'EMAIL')
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return { status, text, code: answered.get('x-sb-error-code') }
}

/** With every header, a user with an account gets the same response as one without. */
async function checkPairs(
  t: TestContext,
  url: string,
  pairs: Readonly<Record<string, readonly [MakeScene, MakeScene]>>,
  exceptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<void> {
  for (const [name, [makeKnown, makeUnknown]] of Object.entries(pairs)) {
    await t.test(`no header reveals an account: ${name} (property 56)`, async () => {
      for (const [header, added] of Object.entries({ '': {}, ...trials })) {
        const { answer: known } = await play(url, await makeKnown(), added)
        const { answer: unknown } = await play(url, await makeUnknown(), added)
        const [one, other] = [toComparable(known), toComparable(unknown)]
        const isSame = exceptions[name]?.[header] === undefined
        if (isSame) assert.deepEqual(one, other, `${name}: ${header}`)
        else assert.notDeepEqual(one, other, `${name}: ${header}`)
      }
    })
  }
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  map: (value: In, key: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, map(value, key)] as const),
  )
}

/** The state of a user: sessions, messages with their redirects, and the stored password. */
function watch(server: FlowServer, email: string) {
  let firstHash: string | undefined
  return async () => {
    const mails = await server.mailsTo(email)
    const [user] = await server.query(
      `select u.email, u.encrypted_password, u.email_confirmed_at is not null as is_confirmed,
         (select count(*)::integer from sessions s
           where s.user_id = u.id and s.revoked_at is null) as sessions
       from users u where u.email = $1`,
      [email],
    )
    firstHash ??= user?.encrypted_password
    return {
      user: user && {
        ...user,
        email: '',
        encrypted_password: user.encrypted_password === firstHash ? 'as before' : 'another',
      },
      mails: mails.map(({ kind, url }) => [
        kind,
        url.origin,
        new URL(url.searchParams.get('redirect_to') ?? 'none:').host,
      ]),
    }
  }
}

const nothing = async () => undefined

test('no header weakens a check', async (t) => {
  const server = await openFlowServer(t, {
    ...factorEnvironment,
    AUTH_RATE_LIMIT_PASSWORD: 'off',
    AUTH_RATE_LIMIT_PASSWORD_ACCOUNT: 'off',
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  })
  if (!server) return
  const { url, serviceToken, clock } = server
  const calls = createFactorCalls(server)
  const post = (path: string, body: object, effects: Scene['effects'] = nothing): Scene => ({
    path,
    options: { body },
    effects,
  })
  const sign = (claims: Readonly<Record<string, unknown>>, secret: string = jwtSecret) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret))
  const getUser = (token: string): Scene => ({
    path: '/user',
    options: { token },
    effects: nothing,
  })
  const withPassword = async () => {
    const { email, id } = await server.newUser()
    return { email, id }
  }
  const unconfirmed = async () => {
    const email = newEmail()
    await server.post('/signup', { email, password })
    return email
  }
  const nowSeconds = () => Math.floor(clock.now() / 1_000)

  const scenes: Readonly<Record<string, MakeScene>> = {
    'a wrong password': async () => {
      const { email } = await withPassword()
      return post('/token?grant_type=password', { email, password: 'x' }, watch(server, email))
    },
    'an unknown user': async () =>
      post('/token?grant_type=password', { email: newEmail(), password: 'x' }),
    'an address that is not confirmed': async () => {
      const email = await unconfirmed()
      return post('/token?grant_type=password', { email, password }, watch(server, email))
    },
    'a banned user': async () => {
      const { email, id } = await withPassword()
      const ban = { method: 'PUT', token: serviceToken, body: { ban_duration: '1h' } }
      await send(url, `/admin/users/${id}`, ban)
      return post('/token?grant_type=password', { email, password }, watch(server, email))
    },
    'an unknown refresh token': async () =>
      post('/token?grant_type=refresh_token', { refresh_token: 'unknown' }),
    'a refresh token that was used long ago': async () => {
      const { email } = await newPerson(server)
      const first = await signInByLink(server, email)
      const again = { refresh_token: first.refresh_token }
      const next = await server.post('/token?grant_type=refresh_token', again)
      const last = { refresh_token: next.body.refresh_token }
      await server.post('/token?grant_type=refresh_token', last)
      return post('/token?grant_type=refresh_token', again, watch(server, email))
    },
    'a grant that does not exist': async () => post('/token?grant_type=none', {}),
    'wrong digits': async () => {
      const { email } = await newPerson(server)
      await server.post('/otp', { email })
      return post('/verify', { type: 'email', email, token: '000000' }, watch(server, email))
    },
    'a link that does not exist': async () => ({
      path: '/verify?type=signup&token=unknown',
      options: {},
      effects: nothing,
    }),
    'no token': async () => ({ path: '/user', options: {}, effects: nothing }),
    'a forged token': async () =>
      getUser(await sign({ sub: crypto.randomUUID(), role: 'service_role' }, 'x'.repeat(40))),
    'an expired token': async () => {
      const { id } = await newPerson(server)
      return getUser(await sign({ sub: id, aud: '', exp: nowSeconds() - 60 }))
    },
    'a token of a user who does not exist': async () =>
      getUser(await sign({ sub: crypto.randomUUID(), aud: '' })),
    'a token of another audience': async () => {
      const { id } = await newPerson(server)
      return getUser(await sign({ sub: id, aud: 'another', exp: nowSeconds() + 60 }))
    },
    'a user who wants to be an administrator': async () => {
      const { email } = await newPerson(server)
      const { access_token: token } = await signInByLink(server, email)
      return { path: '/admin/users', options: { token }, effects: nothing }
    },
    'a change after sign-out': async () => {
      const { email } = await newPerson(server)
      const { access_token: token } = await signInByLink(server, email)
      await send(url, '/logout', { method: 'POST', token })
      const options = { method: 'PUT', token, body: { data: { a: 1 } } }
      return { path: '/user', options, effects: watch(server, email) }
    },
    'the user of an ended session': async () => {
      const { email } = await newPerson(server)
      const { access_token: token } = await signInByLink(server, email)
      await send(url, '/logout', { method: 'POST', token })
      return getUser(token)
    },
    'a refresh after sign-out': async () => {
      const { email } = await newPerson(server)
      const { access_token: token, refresh_token } = await signInByLink(server, email)
      await send(url, '/logout', { method: 'POST', token })
      return post('/token?grant_type=refresh_token', { refresh_token }, watch(server, email))
    },
    'a new password without the code for it': async () => {
      const { email } = await newPerson(server)
      const { access_token: token } = await signInByLink(server, email)
      const options = { method: 'PUT', token, body: { password: 'another correct horse' } }
      return { path: '/user', options, effects: watch(server, email) }
    },
    'a new address at the first level': async () => {
      const member = await calls.newMember()
      const { token } = await calls.signIn(member.email)
      const options = { method: 'PUT', token, body: { email: newEmail() } }
      return { path: '/user', options, effects: watch(server, member.email) }
    },
    'a wrong code of a second factor': async () => {
      const member = await calls.newMember()
      const { token } = await calls.signIn(member.email)
      const { body } = await calls.challenge({ token }, member.factorId)
      return {
        path: `/factors/${member.factorId}/verify`,
        options: { token, body: { challenge_id: body.id, code: member.app.wrongCode() } },
        effects: watch(server, member.email),
      }
    },
    'a weak password': async () => {
      const email = newEmail()
      return post('/signup', { email, password: 'x' }, watch(server, email))
    },
    'a second sign-up': async () => {
      const { email } = await withPassword()
      const body = { email, password: 'another correct horse' }
      return post('/signup', body, watch(server, email))
    },
    'an invitation by a user': async () => {
      const { email } = await newPerson(server)
      const { access_token: token } = await signInByLink(server, email)
      const invited = newEmail()
      const options = { token, body: { email: invited } }
      return { path: '/invite', options, effects: watch(server, invited) }
    },
    'a provider that is off': async () => ({
      path: '/authorize?provider=github',
      options: {},
      effects: nothing,
    }),
    'a foreign redirect': async () => {
      const { email } = await newPerson(server)
      return post(`/recover?redirect_to=${evil}`, { email }, watch(server, email))
    },
    'a foreign redirect of a link': async () => {
      const { email } = await newPerson(server)
      const admin = { token: serviceToken, body: { type: 'magiclink', email } }
      const { body } = await send(url, '/admin/generate_link', admin)
      return {
        path: `/verify?type=magiclink&token=${body.hashed_token}&redirect_to=${evil}`,
        options: {},
        effects: watch(server, email),
      }
    },
    'a link in a message': async () => {
      const { email } = await newPerson(server)
      return post('/recover', { email }, watch(server, email))
    },
  }

  const site = 'site.example'
  const siteInstead = 'the client passes any redirect and expects the site URL instead'
  const mailed = [['recovery', 'https://auth.example', site]]
  const notNow = {
    'sec-purpose': {
      why: 'a prefetch request must not use up a link, so it is refused',
      status: 503,
      code: null,
      host: undefined,
    },
  }
  await checkScenes(t, url, scenes, {
    'no token': {
      authorization: {
        why: 'an invalid token is another error than a missing token',
        status: 403,
        code: 'bad_jwt',
      },
      'all together': { why: 'the same', status: 403, code: 'bad_jwt' },
    },
    'a link that does not exist': notNow,
    'the user of an ended session': inDialect({
      why: 'the client relies on a rejection after a global sign-out',
      status: 403,
      code: 'session_not_found',
    }),
    'a refresh after sign-out': inDialect({
      why: 'the client expects that an ended session is unknown',
      code: 'refresh_token_not_found',
      // The name of the code, not a token.
      secrets: ['refresh_token'],
    }),
    'a foreign redirect': inDialect({
      why: siteInstead,
      status: 200,
      code: null,
      effects: { user: { ...confirmed, sessions: 0 }, mails: mailed },
    }),
    'a foreign redirect of a link': inDialect({
      why: siteInstead,
      status: 303,
      code: null,
      secrets: ['access_token', 'refresh_token'],
      host: site,
      effects: { user: { ...confirmed, sessions: 1 }, mails: [] },
    }),
  })

  const pairs: Readonly<Record<string, readonly [MakeScene, MakeScene]>> = {
    'a wrong password': [
      async () =>
        post('/token?grant_type=password', { email: (await withPassword()).email, password: 'x' }),
      async () => post('/token?grant_type=password', { email: newEmail(), password: 'x' }),
    ],
    recovery: [
      async () => post('/recover', { email: (await newPerson(server)).email }),
      async () => post('/recover', { email: newEmail() }),
    ],
    'a magic link': [
      async () => post('/magiclink', { email: (await newPerson(server)).email }),
      async () => post('/magiclink', { email: newEmail() }),
    ],
    'a code': [
      async () => post('/otp', { email: (await newPerson(server)).email }),
      async () => post('/otp', { email: newEmail() }),
    ],
    'a code for an existing user': [
      async () => post('/otp', { email: (await newPerson(server)).email, create_user: true }),
      async () => post('/otp', { email: newEmail(), create_user: true }),
    ],
    'a code that creates no account': [
      async () => post('/otp', { email: (await newPerson(server)).email, create_user: false }),
      async () => post('/otp', { email: newEmail(), create_user: false }),
    ],
    'a message again': [
      async () => post('/resend', { type: 'signup', email: await unconfirmed() }),
      async () => post('/resend', { type: 'signup', email: newEmail() }),
    ],
    'a sign-up': [
      async () => post('/signup', { email: (await withPassword()).email, password }),
      async () => post('/signup', { email: newEmail(), password }),
    ],
    'wrong digits': [
      async () =>
        post('/verify', { type: 'email', email: (await newPerson(server)).email, token: '000000' }),
      async () => post('/verify', { type: 'email', email: newEmail(), token: '000000' }),
    ],
  }
  await checkPairs(t, url, pairs, {
    'a code that creates no account': {
      'x-supabase-api-version': 'with create_user: false the client asks whether the user exists',
    },
  })
})

const confirmed = { email: '', encrypted_password: 'as before', is_confirmed: true }

test('no header enables a disabled sign-up', async (t) => {
  const server = await openFlowServer(t, { AUTH_DISABLE_SIGNUP: 'true' })
  if (!server) return
  await checkScenes(t, server.url, {
    'a sign-up that is not allowed': async () => {
      const email = newEmail()
      const options = { body: { email, password } }
      return { path: '/signup', options, effects: watch(server, email) }
    },
    'a magic link for a new user': async () => {
      const email = newEmail()
      return { path: '/magiclink', options: { body: { email } }, effects: watch(server, email) }
    },
  })
})

test('no header bypasses a CAPTCHA', async (t) => {
  const service = await openCaptchaService(t, 'hcaptcha')
  const server = await openFlowServer(t, toCaptchaEnvironment('hcaptcha'), {
    checkers: { captchaUrl: service.url },
  })
  if (!server) return
  const refuse = (path: string) => async () => {
    const email = newEmail()
    return { path, options: { body: { email, password } }, effects: watch(server, email) }
  }
  await checkScenes(t, server.url, {
    'a sign-up without a solved CAPTCHA': refuse('/signup'),
    'a login without a solved CAPTCHA': refuse('/token?grant_type=password'),
    'a recovery without a solved CAPTCHA': refuse('/recover'),
  })
})

test('no header bypasses a limit', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_RATE_LIMIT_VERIFY: '1',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: '1',
    AUTH_RATE_LIMIT_OTP: '1',
  })
  if (!server) return
  const { url } = server
  const email = newEmail()
  const limited = {
    '/verify': { type: 'signup', token: 'x' },
    '/token?grant_type=refresh_token': { refresh_token: 'x' },
    '/recover': { email },
    '/otp': { email },
    '/signup': { email, password },
  }
  for (const [path, body] of Object.entries(limited)) await send(url, path, { body })
  await checkScenes(
    t,
    url,
    mapValues(limited, (body, path) => async () => ({
      path,
      options: { body },
      effects: nothing,
    })),
  )
})

test('every header that the server reads is tested (property 56)', () => {
  const source = join(import.meta.dirname, '../../src')
  const files = globSync('{http,features,messages,telemetry}/**/*.ts', { cwd: source })
  assert.ok(files.length > 50)
  const found = new Set<string>()
  for (const file of files) {
    const text = readFileSync(join(source, file), 'utf8')
    for (const pattern of [
      /\bheader\('([^']+)'\)/g,
      /\breadHeader\(\w+, '([^']+)'\)/g,
      /\bheaders\['([^']+)'\]/g,
      /\bheaders\.(authorization|origin|cookie|host|referer)\b/g,
      /\b(?:tag|version|\w+)Header = '([^']+)'/g,
      /^ {2}'((?:x|cf|true|sb)-[a-z-]+|forwarded)',$/gm,
      /'((?:sec-|x-)?purpose|x-moz)'/g,
    ]) {
      for (const [, name = ''] of text.matchAll(pattern)) found.add(name.toLowerCase())
    }
  }
  const untried = [...found].filter((name) => !(name in headers)).toSorted()
  assert.deepEqual(untried, [])
  // Check that the patterns find headers at all.
  for (const name of ['x-jwt-aud', 'x-supabase-api-version', 'redirect_to', 'x-moz', 'cookie']) {
    assert.ok(found.has(name), name)
  }
})
