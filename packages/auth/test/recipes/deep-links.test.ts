/**
 * @servers postgres
 */
// The recipe docs/recipes/deep-links.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import {
  callbackUrl,
  createAuth,
  handleDeepLink,
  sendLink,
  startProvider,
} from '../../../../examples/recipes/deep-links/sign-in.ts'
import { createMemory, dataOf } from '../support/auth-js.ts'
import { newAccount } from '../support/external-server.ts'
import { newEmail } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { keycloak } from '../support/provider-shapes/keycloak.ts'
import { openRecipeServer } from './support/recipe-server.ts'

test('links open the app, and only the app that requested them can sign in', async (t) => {
  const port = await findFreePort()
  const authUrl = `http://127.0.0.1:${port}`
  const provider = await openOAuthServer(t, keycloak, { redirectUri: `${authUrl}/callback` })
  const server = await openRecipeServer(t, {
    ...provider.env,
    AUTH_API_PORT: `${port}`,
    AUTH_API_EXTERNAL_URL: authUrl,
    AUTH_URI_ALLOW_LIST: callbackUrl,
  })
  if (!server) return
  const { mailbox } = server
  const openApp = (t: { after(stop: () => unknown): void }) => {
    const auth = createAuth(authUrl, createMemory())
    t.after(() => auth.stopAutoRefresh())
    return auth
  }
  /** Opens a URL like the system browser, and returns where it leads. */
  const open = async (url: string, cookie = '') => {
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    await response.body?.cancel()
    return response
  }
  const locationOf = (response: Response) => response.headers.get('location') ?? ''

  await t.test('a link in an email opens the app with a code', async (t) => {
    const app = openApp(t)
    const email = newEmail()
    await sendLink(app, email)
    const { link } = await mailbox.readNext(email)
    const deepLink = locationOf(await open(link))
    assert.ok(deepLink.startsWith(`${callbackUrl}?code=`), deepLink)

    const otherApp = openApp(t)
    await assert.rejects(handleDeepLink(otherApp, deepLink), /verifier/)

    const session = await handleDeepLink(app, deepLink)
    assert.equal(session?.user.email, email)
    assert.equal(dataOf(await app.getUser()).user.email, email)
    await assert.rejects(handleDeepLink(app, deepLink), 'a code works once')
  })

  await t.test('a used link opens the app with the reason', async (t) => {
    const app = openApp(t)
    const email = newEmail()
    await sendLink(app, email)
    const { link } = await mailbox.readNext(email)
    await open(link)
    const deepLink = locationOf(await open(link))
    assert.ok(deepLink.startsWith(callbackUrl), deepLink)
    await assert.rejects(handleDeepLink(app, deepLink), /invalid or has expired/)
  })

  await t.test('a provider returns to the app with a code', async (t) => {
    const app = openApp(t)
    const account = newAccount()
    provider.account = account
    const started = await open(await startProvider(app, 'keycloak'))
    const [cookie = ''] = (started.headers.get('set-cookie') ?? '').split(';')
    const { url: wayBack } = await provider.agree(locationOf(started))
    const deepLink = locationOf(await open(wayBack, cookie))
    assert.ok(deepLink.startsWith(`${callbackUrl}?code=`), deepLink)
    const session = await handleDeepLink(app, deepLink)
    assert.equal(session?.user.email, account.email)
  })

  await t.test('other URLs are ignored', async (t) => {
    const app = openApp(t)
    assert.equal(await handleDeepLink(app, 'com.example.notes://note/1?code=x'), undefined)
    assert.equal(dataOf(await app.getSession()).session, null)
  })

  await t.test('a URL outside the allow list leads to the site', async (t) => {
    const app = openApp(t)
    const email = newEmail()
    const options = { emailRedirectTo: 'com.example.other://auth/callback' }
    dataOf(await app.signInWithOtp({ email, options }))
    const { link } = await mailbox.readNext(email)
    assert.match(locationOf(await open(link)), /^https:\/\/site\.example\/?\?code=/)
  })
})
