/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type ExternalServer, newAccount, openExternalServer } from '../support/external-server.ts'
import { createApp, createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { errorOf, fragmentOf, queryOf } from '../support/flow-server.ts'
import { type HttpAnswer, send } from '../support/http-client.ts'
import {
  cookieOf,
  decide,
  exchange,
  type LinkingFlow,
  link,
  pathOf,
  requestLinkUrl,
} from '../support/linking.ts'

const env = { ...factorEnvironment, AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' } as const

const tooLow = [
  401,
  'insufficient_aal',
  'AAL2 session is required to link or unlink identities when MFA is enabled.',
]
const noState = ['bad_oauth_state', 'OAuth state not found or expired']

function problemOf(answer: HttpAnswer): readonly unknown[] {
  const { error_code, error_description } = queryOf(answer)
  return [error_code, error_description]
}

async function providersOf({ query }: ExternalServer, id: string): Promise<readonly string[]> {
  const rows = await query(
    'select provider from identities where user_id = $1 order by created_at, provider',
    [id],
  )
  return rows.map(({ provider }) => provider)
}

const unlink = ({ url }: ExternalServer, token: string, id: string) =>
  send(url, `/user/identities/${id}`, { method: 'DELETE', token })

test('changing identities needs the assurance level of an email change and never changes the address (property 57)', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], env)
  if (!server) return
  const calls = createFactorCalls(server)
  const keycloak = server.at('keycloak')
  const linkByIdToken = async (token: string) =>
    send(server.url, '/token?grant_type=id_token', {
      body: {
        provider: 'keycloak',
        id_token: await keycloak.createIdToken({ ...newAccount() }),
        link_identity: true,
      },
      token,
    })
  const identityOf = async (id: string, provider: string) => {
    const [row] = await server.query(
      'select id from identities where user_id = $1 and provider = $2',
      [id, provider],
    )
    return row.id as string
  }

  await t.test(
    'a user with a second factor can link and unlink only at aal2 (property 57)',
    async () => {
      const member = await calls.newMember()
      const lower = await calls.signIn(member.email)
      for (const flow of ['pkce', 'implicit'] as const) {
        assert.deepEqual(errorOf(await requestLinkUrl(server, lower.token, flow)), tooLow)
      }
      const redirected = '/user/identities/authorize?provider=keycloak'
      assert.deepEqual(errorOf(await send(server.url, redirected, { token: lower.token })), tooLow)
      assert.deepEqual(errorOf(await linkByIdToken(lower.token)), tooLow)
      assert.deepEqual(await providersOf(server, member.id), ['email'])
      assert.equal((await link(server, member.token, newAccount())).status, 200)
      assert.equal((await linkByIdToken(member.token)).status, 200)
      const linked = await identityOf(member.id, 'keycloak')
      assert.deepEqual(errorOf(await unlink(server, lower.token, linked)), tooLow)
      assert.equal((await unlink(server, member.token, linked)).status, 200)
    },
  )

  await t.test('a factor that is verified meanwhile is required (property 57)', async () => {
    const who = await calls.newSignedInUser()
    const before = who.token
    const account = newAccount()
    keycloak.account = account
    const started = await requestLinkUrl(server, before, 'pkce')
    const other = { ...who, ...(await calls.signIn(who.email)) }
    const { body: factor } = await calls.enroll(other)
    const app = createApp(factor.totp.secret, server.clock)
    calls.take(other, await calls.answer(other, factor.id, app.nextCode()))
    // Verifying the factor ends sessions at aal1 and the flows they have started.
    const back = await server.finishFlow(await keycloak.agree(started.body.url), '')
    assert.equal(queryOf(back)['code'], undefined)
    assert.equal(queryOf(back)['error_code'], 'session_not_found')
    assert.deepEqual(await providersOf(server, who.id), ['email'])
  })

  await t.test(
    'nothing is linked after the session that started it has ended (property 57)',
    async () => {
      const signOut = (token: string) =>
        send(server.url, '/logout', { method: 'POST', token, body: {} })
      const who = await calls.newSignedInUser()
      keycloak.account = newAccount()
      const early = await requestLinkUrl(server, who.token, 'pkce')
      const late = await requestLinkUrl(server, who.token, 'pkce')
      const issued = await server.finishFlow(await keycloak.agree(late.body.url), '')
      const { code = '' } = queryOf(issued)
      await signOut(who.token)
      const back = await server.finishFlow(await keycloak.agree(early.body.url), '')
      assert.equal(queryOf(back)['error_code'], 'session_not_found')
      assert.equal((await exchange(server, code)).body.error_code, 'session_not_found')
      assert.deepEqual(await providersOf(server, who.id), ['email'])
    },
  )

  await t.test(
    'a stolen session cannot move the account to another address (property 57)',
    async () => {
      const who = await calls.newSignedInUser()
      const account = newAccount()
      await link(server, who.token, account)
      const refused = await unlink(server, who.token, await identityOf(who.id, 'email'))
      assert.equal(errorOf(refused)[1], 'email_conflict_identity_not_deletable')
      const [user] = await server.query('select email, email_change from users where id = $1', [
        who.id,
      ])
      assert.deepEqual(user, { email: who.email, email_change: null })
      const gone = await unlink(server, who.token, await identityOf(who.id, 'keycloak'))
      assert.equal(gone.status, 200)
    },
  )
})

test('an identity is linked only in the browser that started the flow (property 58)', async (t) => {
  const server = await openExternalServer(t, ['keycloak', 'apple'], env)
  if (!server) return
  const calls = createFactorCalls(server)
  const keycloak = server.at('keycloak')
  const start = async (flow: LinkingFlow) => {
    const attacker = await calls.newSignedInUser()
    const { body, headers } = await requestLinkUrl(server, attacker.token, flow)
    return { attacker, url: body.url as string, cookie: cookieOf({ headers } as HttpAnswer) }
  }
  const open = (url: string, cookie = '') =>
    send(server.url, pathOf(url), { headers: cookie === '' ? {} : { cookie } })

  await t.test(
    'PKCE: another browser gets no session and links nothing (property 58)',
    async () => {
      const { attacker, url } = await start('pkce')
      keycloak.account = newAccount()
      const back = await server.finishFlow(await keycloak.agree(url), '')
      assert.deepEqual(Object.keys(queryOf(back)), ['code'])
      assert.deepEqual(fragmentOf(back), {})
      assert.deepEqual(await providersOf(server, attacker.id), ['email'])
      const { code = '' } = queryOf(back)
      const guessed = await server.post('/token?grant_type=pkce', {
        auth_code: code,
        code_verifier: 'w'.repeat(64),
      })
      assert.equal(guessed.body.error_code, 'bad_code_verifier')
      assert.deepEqual(await providersOf(server, attacker.id), ['email'])
      // The identity is still not linked to any user.
      const fragment = fragmentOf(await server.signInWith('keycloak', keycloak.account))
      const { body } = await send(server.url, '/user', { token: fragment['access_token'] ?? '' })
      assert.notEqual(body.id, attacker.id)
    },
  )

  await t.test('PKCE: the verifier links the identity once (property 58)', async () => {
    const { attacker, url } = await start('pkce')
    keycloak.account = newAccount()
    const { code = '' } = queryOf(await server.finishFlow(await keycloak.agree(url), ''))
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(server, code)))
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.deepEqual(await providersOf(server, attacker.id), ['email', 'keycloak'])
  })

  await t.test(
    'without PKCE: another browser asks for consent and gets no session (property 58)',
    async () => {
      const { attacker, url } = await start('implicit')
      keycloak.account = newAccount()
      const page = await open(url)
      assert.equal(page.status, 200)
      assert.ok(page.body.includes(attacker.email), 'the page names the account')
      assert.deepEqual(await providersOf(server, attacker.id), ['email'])
      const victim = cookieOf(page)
      const agreed = await decide(server, url, victim)
      const there = agreed.headers.get('location') ?? ''
      const back = await server.finishFlow(await keycloak.agree(there), victim)
      // Even a victim who consents is not signed in to the account of the attacker.
      assert.deepEqual(fragmentOf(back), { message: 'Identity linked', sb: '' })
      assert.deepEqual(queryOf(back), {})
    },
  )

  await t.test('without PKCE: the callback requires prior consent (property 58)', async () => {
    const { attacker, url } = await start('implicit')
    const state = new URL(url).searchParams.get('state') ?? ''
    const [{ provider_url: there }] = await server.query(
      'select provider_url from flow_states where id = $1',
      [state],
    )
    keycloak.account = newAccount()
    const victim = cookieOf(await open(url))
    const unasked = await server.finishFlow(await keycloak.agree(there), victim)
    assert.deepEqual(problemOf(unasked), noState)
    // The consent of the attacker does not apply to other browsers.
    await decide(server, url, victim)
    for (const cookie of ['', 'theme=dark', victim.replace(/=.*/, `=${'A'.repeat(43)}`)]) {
      const foreign = await server.finishFlow(await keycloak.agree(there), cookie)
      assert.deepEqual(problemOf(foreign), noState)
    }
    // Clients that are not browsers need it too.
    const { url: back } = await keycloak.agree(there)
    const program = await send(server.url, pathOf(back), { headers: { 'user-agent': 'curl/8' } })
    assert.deepEqual(problemOf(program), noState)
    assert.deepEqual(await providersOf(server, attacker.id), ['email'])
  })

  await t.test('only one browser can continue the flow (property 58)', async () => {
    const { url } = await start('implicit')
    const first = await open(url)
    const cookie = cookieOf(first)
    assert.equal(first.status, 200)
    assert.deepEqual(problemOf(await open(url)), noState)
    assert.deepEqual(problemOf(await open(url, `${cookie}x`)), noState)
    const again = await open(url, cookie)
    assert.deepEqual([again.status, cookieOf(again)], [200, ''])
    assert.equal((await send(server.url, pathOf(url), { method: 'HEAD' })).status, 200)
  })

  await t.test('consent needs the cookie and the origin of the page (property 58)', async () => {
    const { url } = await start('implicit')
    const cookie = cookieOf(await open(url))
    for (const origin of ['https://evil.example', 'null', 'https://auth.example.evil.example']) {
      assert.deepEqual(problemOf(await decide(server, url, cookie, 'link', origin)), noState)
    }
    assert.deepEqual(problemOf(await decide(server, url, '')), noState)
    const state = new URL(url).searchParams.get('state')
    const [flow] = await server.query('select linking_step from flow_states where id = $1', [state])
    assert.equal(flow.linking_step, 'asked')
    assert.equal((await decide(server, url, cookie)).status, 303)
  })

  await t.test('a refusal ends the flow (property 58)', async () => {
    const { attacker, url } = await start('implicit')
    const cookie = cookieOf(await open(url))
    const answer = await decide(server, url, cookie, 'cancel')
    assert.equal(queryOf(answer)['error'], 'access_denied')
    assert.deepEqual(problemOf(await decide(server, url, cookie)), noState)
    assert.deepEqual(await providersOf(server, attacker.id), ['email'])
  })

  await t.test(
    'a script of the same origin has the cookie, so its browser is recognized (property 58)',
    async () => {
      const { attacker, url, cookie } = await start('implicit')
      assert.match(cookie, /auth-flow-/)
      keycloak.account = newAccount()
      const opened = await open(url, cookie)
      assert.equal(opened.status, 302)
      const there = opened.headers.get('location') ?? ''
      const back = fragmentOf(await server.finishFlow(await keycloak.agree(there), cookie))
      const { body } = await send(server.url, '/user', { token: back['access_token'] ?? '' })
      assert.deepEqual([body.id, body.app_metadata.providers], [attacker.id, ['email', 'keycloak']])
    },
  )

  await t.test('the page escapes its content and cannot be framed (property 58)', async () => {
    const { attacker } = await start('implicit')
    const email = `o'hara&{b}-${randomUUID()}@example.com`
    await server.query('update users set email = $2 where id = $1', [attacker.id, email])
    const { body } = await requestLinkUrl(server, attacker.token, 'implicit')
    const { body: html, headers } = await open(body.url)
    assert.ok(html.includes(`o&#39;hara&amp;{b}-`), html)
    assert.ok(!html.includes("o'hara"))
    assert.match(headers.get('content-type') ?? '', /^text\/html; charset=utf-8$/)
    assert.match(
      headers.get('content-security-policy') ?? '',
      /default-src 'none'.*frame-ancestors 'none'/,
    )
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.doesNotMatch(html, /<script/i)
  })

  await t.test('the URL expires (property 58)', async () => {
    const { url } = await start('implicit')
    const cookie = cookieOf(await open(url))
    server.clock.aheadMs += 301_000
    assert.deepEqual(problemOf(await open(url, cookie)), noState)
    assert.deepEqual(problemOf(await decide(server, url, cookie)), noState)
    for (const state of ['', 'x', `${randomUUID()}`]) {
      const strange = await send(server.url, `/user/identities/confirm?state=${state}`)
      assert.equal(strange.status, 303)
    }
  })

  await t.test(
    'a provider that returns by a form post also needs the cookie (property 58)',
    async () => {
      const attacker = await calls.newSignedInUser()
      const { body } = await requestLinkUrl(server, attacker.token, 'implicit', 'apple')
      const page = await open(body.url)
      assert.match(page.headers.get('set-cookie') ?? '', /SameSite=None/)
      const agreed = await decide(server, body.url, cookieOf(page))
      const apple = server.at('apple')
      const there = agreed.headers.get('location') ?? ''
      assert.deepEqual(problemOf(await server.finishFlow(await apple.agree(there), '')), noState)
      assert.deepEqual(await providersOf(server, attacker.id), ['email'])
    },
  )
})
