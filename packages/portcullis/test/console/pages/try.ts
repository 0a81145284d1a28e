import assert from 'node:assert/strict'
import type { RunSuite } from './suite.ts'
import {
  getSignOut,
  inventEmail,
  openMessage,
  openTry,
  password,
  readCode,
  readLink,
  removeStatusErrors,
  signUp,
  startOver,
} from './try-steps.ts'

export const testTry: RunSuite = async (t, scene) => {
  await using visitor = await openTry(scene)
  const { page } = visitor

  await t.test(
    'the one-time code of the mail works like its link; afterwards the password signs in',
    async () => {
      const email = inventEmail('code')
      await signUp(page, email)
      const code = await readCode(await openMessage(page, email))
      await page.getByRole('navigation').getByRole('link', { name: 'Try it' }).click()
      await page.getByLabel('One-time code').fill(code)
      await page.getByRole('button', { name: 'Verify code' }).click()
      await getSignOut(page).click()

      await page.getByRole('tab', { name: 'Sign in' }).click()
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password').fill('not this one')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').getByText('Invalid login credentials').waitFor()
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('Signed in with password').waitFor()
      removeStatusErrors(visitor, 400)
    },
  )

  await t.test('a magic link works once; the second time the page shows the reason', async () => {
    await startOver(page)
    const email = inventEmail('magic')
    await page.getByRole('tab', { name: 'Magic link' }).click()
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send link' }).click()
    const link = await readLink(await openMessage(page, email))
    await page.goto(link)
    await getSignOut(page).click()
    await page.getByRole('tab', { name: 'Sign in' }).waitFor()
    await page.goto(link)
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.match((await alert.textContent()) ?? '', /The link did not sign you in\..*otp_expired/)
    assert.equal(page.url(), `${scene.world.consoleUrl}/try`)
  })

  await t.test(
    'a PKCE link from another browser does not sign in, and the page shows the reason',
    async () => {
      await startOver(page)
      const email = inventEmail('elsewhere')
      await page.getByRole('radio', { name: 'PKCE' }).check()
      await signUp(page, email)
      const link = await readLink(await openMessage(page, email))
      await using other = await openTry(scene)
      await other.page.goto(link)
      await other.page.getByRole('alert').getByText('only in the browser that requested').waitFor()
      await other.page.getByRole('tab', { name: 'Sign up' }).waitFor()
    },
  )

  await t.test('a one-time code by SMS signs in, by keyboard, in a narrow window', async () => {
    await page.setViewportSize({ width: 390, height: 860 })
    await startOver(page)
    const phone = `+4915${Math.floor(10 ** 8 + Math.random() * 9 * 10 ** 8)}`
    await page.getByRole('tab', { name: 'Sign up' }).focus()
    await page.getByRole('tab', { name: 'Phone' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    const tab = page.getByRole('tab', { name: 'Phone', selected: true })
    await tab.waitFor()
    assert.ok(await tab.evaluate((element) => element === document.activeElement))
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)
    await page.getByLabel('Phone number').fill(phone)
    await page.getByRole('button', { name: 'Send code' }).click()
    const code = await readCode(await openMessage(page, phone.slice(1)))
    await page.getByRole('navigation').getByRole('link', { name: 'Try it' }).click()
    await page.getByLabel('One-time code').fill(code)
    await page.getByRole('button', { name: 'Verify code' }).click()
    await page.getByRole('heading', { name: phone.slice(1) }).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)
  })
}
