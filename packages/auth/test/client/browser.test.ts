/**
 * @servers postgres, chromium
 * @slow
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { dataOf, follow } from '../support/auth-js.ts'
import { openBrowserSite, type Tab } from '../support/browser-site.ts'
import { newEmail, password } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'

function createKeys(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'now', alg: 'ES256' }
  return JSON.stringify([{ ...key, key_ops: ['sign', 'verify'] }])
}

async function sessionOf(tab: Tab) {
  return dataOf(await tab.call('getSession')).session
}

test('the real client in a browser', async (t) => {
  const site = await openBrowserSite(t, { AUTH_JWT_KEYS: createKeys() })
  if (!site) return
  const { server, openBrowser } = site
  const { mailbox, clock } = server

  /** Opens a signed-in browser whose access token expires in this many seconds. */
  async function openSignedIn(path: string, secondsLeft = 3_600) {
    const { email } = await server.newUser()
    const browser = await openBrowser()
    const tab = await browser.openTab(path)
    // The browser uses the real time.
    clock.catchUp()
    clock.aheadMs = (secondsLeft - 3_600) * 1_000
    const signedIn = await tab.call('signInWithPassword', { email, password })
    clock.aheadMs = 0
    return { ...browser, tab, email, session: dataOf(signedIn).session }
  }

  for (const flowType of ['implicit', 'pkce'] as const) {
    const path = `/${flowType}`

    await t.test(`a sign-up link ends in a session, in the ${flowType} flow`, async () => {
      const { context, openTab } = await openBrowser()
      const tab = await openTab(path)
      const email = newEmail()
      const options = { emailRedirectTo: `${site.url}${path}?next=1` }
      dataOf(await tab.call('signUp', { email, password, options }))
      const { link } = await mailbox.readNext(email)
      const landed = await openTab(link)
      await landed.waitForEvent('SIGNED_IN')
      const { user } = dataOf(await landed.call('getUser'))
      assert.equal(user.email, email)
      const { href } = new URL(landed.page.url())
      assert.equal(href.replace(/#$/, ''), `${site.url}${path}?next=1`)
      // The tab that was already open is notified too.
      await tab.waitForEvent('SIGNED_IN')
      assert.equal((await sessionOf(tab))?.user.email, email)
      await landed.page.reload()
      assert.equal((await sessionOf(landed))?.user.email, email)
      await context.close()
    })

    await t.test(`a recovery link emits PASSWORD_RECOVERY, in the ${flowType} flow`, async () => {
      const { context, openTab } = await openBrowser()
      const tab = await openTab(path)
      const { email } = await server.newUser()
      const redirectTo = `${site.url}${path}/new-password`
      dataOf(await tab.call('resetPasswordForEmail', email, { redirectTo }))
      const landed = await openTab((await mailbox.readNext(email)).link)
      await landed.waitForEvent('PASSWORD_RECOVERY')
      dataOf(await landed.call('updateUser', { password: 'chosen again' }))
      dataOf(await tab.call('signInWithPassword', { email, password: 'chosen again' }))
      await context.close()
    })

    await t.test(`a used link is an error and keeps the session, in ${flowType}`, async () => {
      const { context, openTab, tab, email } = await openSignedIn(path)
      const options = { emailRedirectTo: `${site.url}${path}` }
      dataOf(await tab.call('signInWithOtp', { email, options }))
      const { link } = await mailbox.readNext(email)
      await follow(link)
      const landed = await openTab(link)
      const { error } = await landed.call('initialize')
      assert.equal(error?.message, 'Email link is invalid or has expired')
      assert.deepEqual(error && 'details' in error && error.details, {
        error: 'access_denied',
        code: 'otp_expired',
      })
      assert.equal((await sessionOf(landed))?.user.email, email)
      await context.close()
    })
  }

  await t.test('a PKCE link opened in another browser does not sign in there', async () => {
    const { context, openTab } = await openBrowser()
    const email = newEmail()
    const options = { emailRedirectTo: `${site.url}/pkce` }
    dataOf(await (await openTab('/pkce')).call('signUp', { email, password, options }))
    const other = await openBrowser()
    const landed = await other.openTab((await mailbox.readNext(email)).link)
    await landed.call('initialize')
    assert.match(landed.page.url(), /\?code=/)
    assert.equal(await sessionOf(landed), null)
    await Promise.all([context.close(), other.context.close()])
  })

  await t.test('the first confirmation of an email change keeps the session', async () => {
    const { context, openTab, tab, email } = await openSignedIn('/implicit')
    const next = newEmail()
    dataOf(await tab.call('updateUser', { email: next }))
    const half = await openTab((await mailbox.readNext(next)).link)
    assert.equal((await half.call('initialize')).error, null)
    assert.match(half.page.url(), /#message=Confirmation\+link\+accepted/)
    assert.equal((await sessionOf(half))?.user.email, email)
    const whole = await openTab((await mailbox.readNext(email)).link)
    await whole.waitForEvent('SIGNED_IN')
    assert.equal(dataOf(await whole.call('getUser')).user.email, next)
    await context.close()
  })

  for (const path of ['/implicit', '/locked']) {
    const how = path === '/locked' ? 'with navigator.locks' : 'without a lock'
    await t.test(`tabs that wake up with an expired session all keep it, ${how}`, async () => {
      const { context, openTab, tab, session } = await openSignedIn(path, -60)
      await tab.page.close()
      // Several tabs may refresh, even with a lock, because storage is synchronized with a delay.
      const answers: number[] = []
      context.on('response', (response) => {
        if (response.request().method() === 'OPTIONS') return
        if (response.url().includes('grant_type=refresh_token')) answers.push(response.status())
      })
      const tabs = await Promise.all(Array.from({ length: 4 }, () => openTab(path)))
      const readTokens = async () => {
        const sessions = await Promise.all(tabs.map(sessionOf))
        return new Set(sessions.map((found) => found?.refresh_token))
      }
      await until(async () => (await readTokens()).size === 1)
      const [token] = await readTokens()
      assert.ok(token)
      assert.notEqual(token, session.refresh_token)
      assert.deepEqual([...new Set(answers)], [200])
      const events = await Promise.all(tabs.map((one) => one.events()))
      assert.equal(events.flat().includes('SIGNED_OUT'), false)
      for (const one of tabs) assert.ok(dataOf(await one.call('getUser')).user)
      await context.close()
    })
  }

  await t.test('an open page refreshes its session before it expires', async () => {
    const { context, openTab, tab, session } = await openSignedIn('/implicit')
    await tab.page.close()
    await context.clock.install()
    const waiting = await openTab('/implicit')
    await waiting.waitForEvent('INITIAL_SESSION')
    assert.equal((await sessionOf(waiting))?.refresh_token, session.refresh_token)
    clock.aheadMs = 59 * 60_000
    await context.clock.fastForward('59:00')
    await waiting.waitForEvent('TOKEN_REFRESHED')
    clock.aheadMs = 0
    assert.notEqual((await sessionOf(waiting))?.refresh_token, session.refresh_token)
    await context.close()
  })

  await t.test('signing out in one tab signs out the others', async () => {
    const { context, openTab, tab } = await openSignedIn('/implicit')
    const other = await openTab('/implicit')
    await other.waitForEvent('INITIAL_SESSION')
    assert.equal((await tab.call('signOut')).error, null)
    await other.waitForEvent('SIGNED_OUT')
    assert.equal(await sessionOf(other), null)
    await context.close()
  })

  await t.test('claims are verified in the browser with the public keys', async () => {
    const { context, tab, email } = await openSignedIn('/implicit')
    const paths: string[] = []
    context.on('request', (request) => paths.push(new URL(request.url()).pathname))
    const data = dataOf(await tab.call('getClaims'))
    assert.deepEqual([data?.header.alg, data?.claims.email], ['ES256', email])
    assert.deepEqual(paths, ['/.well-known/jwks.json'])
    await context.close()
  })

  await t.test('errors and pagination headers are readable from another origin', async () => {
    const { context, openTab } = await openBrowser()
    const tab = await openTab('/implicit')
    const wrong = await tab.call('signInWithPassword', { email: newEmail(), password })
    assert.deepEqual(
      [wrong.error?.name, wrong.error?.code, wrong.error?.message],
      ['AuthApiError', 'invalid_credentials', 'Invalid login credentials'],
    )
    const names = await tab.page.evaluate(
      async ([url, token]) => {
        const headers = { authorization: `Bearer ${token}` }
        const answer = await fetch(`${url}/admin/users?per_page=1`, { headers })
        return [...answer.headers.keys()]
      },
      [server.url, server.serviceToken] as const,
    )
    assert.ok(names.includes('x-total-count') && names.includes('link'), names.join())
    await context.close()
  })
})
