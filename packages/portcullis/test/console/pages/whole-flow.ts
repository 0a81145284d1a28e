import assert from 'node:assert/strict'
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import type { RunSuite } from './suite.ts'
import {
  getSignOut,
  inventEmail,
  openMessage,
  openTry,
  password,
  removeStatusErrors,
  signUp,
  startOver,
} from './try-steps.ts'

async function queryMe(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: 'Send query' }).click()
  await page
    .getByRole('region', { name: 'Query the GraphQL API' })
    .getByText(`"email": "${email}"`)
    .waitFor()
}

/** Repeated, because a window may end in between and the count starts again. */
async function exceedLimit(page: Page): Promise<string> {
  const send = page.getByRole('button', { name: 'Send 30 times' })
  for (let turn = 0; turn < 3; turn++) {
    await send.click()
    await page.locator('button[aria-busy]').waitFor({ state: 'detached' })
    const summary = (await page.getByText('over the limit (429)').textContent()) ?? ''
    if (!summary.includes(' 0 over')) return summary
  }
  return 'never over the limit'
}

export const testWholeFlow: RunSuite = async (t, scene) => {
  await using visitor = await openTry(scene)
  const { page } = visitor

  await t.test('sign up, confirm by mail, query as that user, exceed the limit', async () => {
    const email = inventEmail('ada')
    await signUp(page, email)

    await openMessage(page, email)
    await page.getByRole('link', { name: 'Open link' }).click()
    await getSignOut(page).waitFor()
    assert.equal(page.url(), `${scene.world.consoleUrl}/try`)
    await page.getByRole('heading', { name: email }).waitFor()

    await queryMe(page, email)
    assert.match(
      await exceedLimit(page),
      /^\d+ succeeded \(200\), [1-9]\d* over the limit \(429\)$/,
    )
    await page.getByText('Too many requests. Try again in').waitFor()
    const calls = page.getByRole('list', { name: 'API calls' }).getByRole('listitem')
    const shown = await calls.allTextContents()
    assert.ok(shown.some((text) => /^429POST \/graphql/.test(text)))
    removeStatusErrors(visitor, 429)
  })

  await t.test('sign up with PKCE, then set up and use a second factor', async () => {
    await startOver(page)
    const email = inventEmail('grace')
    await page.getByRole('radio', { name: 'PKCE' }).check()
    await signUp(page, email)
    await openMessage(page, email)
    await page.getByRole('link', { name: 'Open link' }).click()
    await getSignOut(page).waitFor()
    assert.equal(page.url(), `${scene.world.consoleUrl}/try`)
    await page.getByText('/token?grant_type=pkce').waitFor()

    await page.getByRole('button', { name: 'Set up app' }).click()
    const picture = page.getByRole('img', { name: 'QR code' })
    await picture.waitFor()
    const width = await picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth)
    assert.ok(Number(width) > 0)
    const secret = (await page.locator('.try-secret').textContent()) ?? ''
    const app = new TOTP({ secret })
    await page.getByLabel('One-time code of the app').fill(app.generate())
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Two factors (aal2)').waitFor()

    await getSignOut(page).click()
    await page.getByRole('tab', { name: 'Sign in' }).click()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('One factor (aal1)').waitFor()
    const next = app.generate({ timestamp: Date.now() + 30_000 })
    await page.getByLabel('One-time code of the app').fill(next)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Two factors (aal2)').waitFor()
    await queryMe(page, email)

    await page.getByRole('button', { name: 'Remove App' }).click()
    await page.getByText('No second factor yet.').waitFor()
    await page.getByText('One factor (aal1)').waitFor()
  })
}
