/**
 * @servers postgres, chromium
 */
// The recipe docs/recipes/react-spa.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedBrowser } from '../support/browser-site.ts'
import { startExample } from '../support/example-program.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openRecipeServer } from './support/recipe-server.ts'

test('the React page signs up and in, keeps and refreshes the session, and signs out', async (t) => {
  const server = await openRecipeServer(t, { AUTH_MAILER_AUTOCONFIRM: 'true' })
  const chromium = server && (await openSharedBrowser(t))
  if (!chromium) return
  const { clock } = server
  const site = await startExample(t, 'recipes/react-spa/server.ts', { AUTH_URL: server.url })
  assert.equal((await send(site, '/api/me')).status, 401)

  const page = await chromium.browser.newPage()
  t.after(() => page.close())
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  const grants: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/token' && request.method() === 'POST') {
      grants.push(searchParams.get('grant_type') ?? '')
    }
  })
  const email = newEmail()
  const button = (name: string) => page.getByRole('button', { name })
  const submit = async (name: string, secret: string) => {
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(secret)
    await button(name).click()
  }
  const accountText = page.getByText(`Signed in as ${email}`)

  await page.goto(site)
  await submit('Sign up', password)
  await accountText.waitFor()
  await button('Sign out').click()
  await submit('Sign in', 'wrong')
  await page.getByText('Invalid login credentials').waitFor()

  // The browser uses the real time. The client refreshes tokens in their last 90 seconds.
  clock.catchUp()
  clock.aheadMs = -3_520_000
  await submit('Sign in', password)
  await accountText.waitFor()
  clock.aheadMs = 0

  await page.reload()
  await accountText.waitFor()
  assert.deepEqual(grants.slice(0, 2), ['password', 'password'])
  assert.ok(grants.includes('refresh_token'), 'the page refreshed the session')

  await button('Sign out').click()
  await button('Sign up').waitFor()
  await page.reload()
  await button('Sign up').waitFor()
  assert.equal(await accountText.count(), 0)
  assert.deepEqual(complaints, [])
})
