/**
 * @servers postgres
 */
// The recipe docs/recipes/nextjs.md, with a plain HTTP server in place of Next.js.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { startExample } from '../support/example-program.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openRecipeServer } from './support/recipe-server.ts'

/** A browser without scripts: it keeps cookies, and does not follow redirects. */
function openBrowser(site: string) {
  const cookies = new Map<string, string>()
  const request = async (path: string, form?: Readonly<Record<string, string>>) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(path, site), {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const changed = response.headers.getSetCookie()
    for (const line of changed) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const { status, headers } = response
    const text = await response.text()
    return { status, headers, text, changed, location: headers.get('location') }
  }
  return { cookies, request }
}

test('an application with pages from a server keeps the session in cookies', async (t) => {
  const port = await findFreePort()
  const siteUrl = `http://localhost:${port}`
  const server = await openRecipeServer(t, { AUTH_SITE_URL: siteUrl })
  if (!server) return
  const site = await startExample(t, 'recipes/nextjs/node-server.ts', {
    AUTH_URL: server.url,
    SITE_URL: siteUrl,
    PORT: `${port}`,
  })
  const signIn = async (secondsLeft = 3_600) => {
    const browser = openBrowser(site)
    const { email } = await server.newUser()
    // The clock of the application is the real one.
    server.clock.catchUp()
    server.clock.aheadMs = (secondsLeft - 3_600) * 1_000
    const answer = await browser.request('/sign-in', { email, password })
    server.clock.aheadMs = 0
    return { ...browser, email, answer }
  }

  await t.test(
    'each user sees their own page, and the tokens are hidden from scripts',
    async () => {
      const [ada, bob] = [await signIn(), await signIn()]
      const { status, location, changed } = ada.answer
      assert.deepEqual([status, location], [303, '/'])
      assert.ok(changed.length > 0)
      for (const line of changed) assert.match(line, /HttpOnly/)
      for (const { request, email } of [ada, bob]) {
        const page = await request('/')
        assert.ok(page.text.includes(`Signed in as ${email}`), page.text)
        assert.deepEqual(page.changed, [], 'a valid session is not refreshed')
      }
      const anonymous = await openBrowser(site).request('/')
      assert.match(anonymous.text, /Sign in/)
    },
  )

  await t.test('a refreshed session sets cookies, and the page has the user', async () => {
    // The client refreshes tokens in their last 90 seconds.
    const { cookies, request, email } = await signIn(80)
    const before = new Map(cookies)
    const page = await request('/')
    assert.ok(page.text.includes(`Signed in as ${email}`), page.text)
    assert.ok(page.changed.length > 0)
    assert.match(page.headers.get('cache-control') ?? '', /no-store/)
    assert.notDeepEqual(cookies, before)
    const next = await request('/')
    assert.ok(next.text.includes(`Signed in as ${email}`))
    assert.deepEqual(next.changed, [])
  })

  await t.test('a cookie with another signature does not sign in', async () => {
    const { cookies, request } = await signIn()
    for (const [name, value] of cookies) cookies.set(name, forge(value))
    const page = await request('/')
    assert.equal(page.status, 200)
    assert.match(page.text, /action="\/sign-in"/)
  })

  await t.test('a wrong password leads back to the page with the error', async () => {
    const { email } = await server.newUser()
    const { request, cookies } = openBrowser(site)
    const { status, location } = await request('/sign-in', { email, password: 'wrong' })
    assert.deepEqual([status, location], [303, '/?error=invalid_credentials'])
    assert.deepEqual([...cookies], [])
  })

  await t.test('a link signs in the browser that requested it, and no other', async () => {
    const email = newEmail()
    const { request } = openBrowser(site)
    assert.equal((await request('/sign-in', { email, password: '' })).location, '/')
    const { link } = await server.mailbox.readNext(email)
    const { headers } = await fetch(link, { redirect: 'manual' })
    const callback = headers.get('location') ?? ''
    assert.ok(callback.startsWith(`${siteUrl}/auth/callback?code=`), callback)

    const other = openBrowser(site)
    assert.match((await other.request(callback)).location ?? '', /^\/\?error=/)
    assert.match((await other.request('/')).text, /action="\/sign-in"/)

    assert.equal((await request(callback)).location, '/')
    assert.ok((await request('/')).text.includes(`Signed in as ${email}`))
  })

  await t.test('another site cannot sign its visitors in', async () => {
    const { email } = await server.newUser()
    const response = await fetch(`${site}/sign-in`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site' },
      body: new URLSearchParams({ email, password }),
    })
    assert.equal(response.status, 403)
    assert.deepEqual(response.headers.getSetCookie(), [])
  })

  await t.test('signing out deletes the cookies and ends the session', async () => {
    const { cookies, request } = await signIn()
    const [copy = ''] = cookies.values()
    assert.equal((await request('/sign-out', {})).location, '/')
    assert.deepEqual([...cookies], [])
    assert.match((await request('/')).text, /action="\/sign-in"/)
    const { refresh_token } = readSession(copy)
    const path = '/token?grant_type=refresh_token'
    const refused = await send(server.url, path, { body: { refresh_token } })
    assert.deepEqual([refused.status, refused.body.error_code], [400, 'session_not_found'])
  })
})

const prefix = 'base64-'

/** Reads the session in a cookie of @supabase/ssr. */
function readSession(cookie: string) {
  assert.ok(cookie.startsWith(prefix))
  return JSON.parse(Buffer.from(cookie.slice(prefix.length), 'base64url').toString())
}

/** Changes the signature of the access token in a session cookie. */
function forge(cookie: string): string {
  const session = readSession(cookie)
  const token = `${session.access_token.slice(0, -8)}AAAAAAAA`
  const forged = JSON.stringify({ ...session, access_token: token })
  return `${prefix}${Buffer.from(forged).toString('base64url')}`
}
