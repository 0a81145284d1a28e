/**
 * @servers postgres, chromium
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { dataOf } from '../support/auth-js.ts'
import { openBrowserSite, type Tab } from '../support/browser-site.ts'
import { newAccount } from '../support/external-server.ts'
import { password } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { keycloak } from '../support/provider-shapes/keycloak.ts'

test('signing in through a provider in a real browser', async (t) => {
  const port = await findFreePort()
  const authUrl = `http://127.0.0.1:${port}`
  const provider = await openOAuthServer(t, keycloak, { redirectUri: `${authUrl}/callback` })
  const site = await openBrowserSite(t, {
    ...provider.env,
    AUTH_API_PORT: `${port}`,
    AUTH_API_EXTERNAL_URL: authUrl,
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  })
  if (!site) return
  const { openBrowser } = site

  for (const flowType of ['implicit', 'pkce'] as const) {
    const redirectTo = `${site.url}/${flowType}`

    await t.test(`the ${flowType} flow signs in and returns to the site`, async () => {
      const account = newAccount()
      provider.account = account
      const { context, openTab } = await openBrowser()
      const tab = await openTab(`/${flowType}`)
      const options = { redirectTo, skipBrowserRedirect: true }
      const requested = await tab.call('signInWithOAuth', { provider: 'keycloak', options })
      await tab.page.goto(dataOf(requested).url)
      await tab.waitForEvent('SIGNED_IN')
      assert.equal(dataOf(await tab.call('getUser')).user.email, account.email)
      const left = await context.cookies(authUrl)
      assert.deepEqual(left, [], 'the flow cookie was deleted')
      await context.close()
    })

    await t.test(`a callback URL of another browser does not sign in, ${flowType}`, async () => {
      provider.account = newAccount()
      const attacker = await openBrowser()
      const tab = await attacker.openTab(`/${flowType}`)
      const options = { redirectTo, skipBrowserRedirect: true }
      const requested = await tab.call('signInWithOAuth', { provider: 'keycloak', options })
      const started = await fetch(dataOf(requested).url, { redirect: 'manual' })
      const { url: wayBack } = await provider.agree(started.headers.get('location') ?? '')
      const victim = await openBrowser()
      await victim.openTab(`/${flowType}`)
      const landed = await victim.openTab(wayBack)
      await landed.waitForEvent('INITIAL_SESSION')
      assert.equal(dataOf(await landed.call('getSession')).session, null)
      await attacker.context.close()
      await victim.context.close()
    })
  }

  /** The URL that the client opens to link an identity. */
  const requestLinkUrl = async (tab: Tab, path: string): Promise<string> => {
    const requested = JSON.stringify({
      provider: 'keycloak',
      options: { redirectTo: `${site.url}${path}`, skipBrowserRedirect: true },
    })
    const script = `site.client.linkIdentity(${requested}).then(({ data }) => data.url)`
    return tab.page.evaluate<string>(script)
  }
  const signInToLink = async (path: string) => {
    const { id, email } = await site.server.newUser()
    const { context, openTab } = await openBrowser()
    const tab = await openTab(path)
    dataOf(await tab.call('signInWithPassword', { email, password }))
    return { id, email, context, tab, url: await requestLinkUrl(tab, path) }
  }

  await t.test('an identity is linked at once with PKCE', async () => {
    provider.account = newAccount()
    const { id, context, tab, url } = await signInToLink('/pkce')
    await tab.page.goto(url)
    await tab.waitForEvent('SIGNED_IN')
    const { user } = dataOf(await tab.call('getUser'))
    assert.deepEqual([user.id, user.app_metadata['providers']], [id, ['email', 'keycloak']])
    await context.close()
  })

  await t.test('an identity is linked after consent without PKCE', async () => {
    provider.account = newAccount()
    const { id, email, context, tab, url } = await signInToLink('/implicit')
    await tab.page.goto(url)
    assert.ok((await tab.page.textContent('main'))?.includes(email))
    await tab.page.click('button[value=link]')
    await tab.waitForEvent('SIGNED_IN')
    const { user } = dataOf(await tab.call('getUser'))
    assert.deepEqual([user.id, user.app_metadata['providers']], [id, ['email', 'keycloak']])
    const refreshed = dataOf(await tab.call('refreshSession'))
    assert.deepEqual(refreshed.user?.app_metadata['providers'], ['email', 'keycloak'])
    await context.close()
  })

  for (const flowType of ['implicit', 'pkce'] as const) {
    await t.test(`a linking URL of another user links nothing, ${flowType}`, async () => {
      provider.account = newAccount()
      const attacker = await signInToLink(`/${flowType}`)
      const victim = await openBrowser()
      await victim.openTab(`/${flowType}`)
      const page = await victim.context.newPage()
      await page.goto(attacker.url)
      if (flowType === 'implicit') await page.click('button[value=cancel]')
      await page.waitForURL(new RegExp(`^${site.url}/${flowType}`))
      const landed = await victim.openTab(`/${flowType}`)
      assert.equal(dataOf(await landed.call('getSession')).session, null)
      const { user } = dataOf(await attacker.tab.call('getUser'))
      assert.deepEqual(user.app_metadata['providers'], ['email'])
      await attacker.context.close()
      await victim.context.close()
    })
  }
})
