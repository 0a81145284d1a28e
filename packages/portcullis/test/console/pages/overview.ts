import assert from 'node:assert/strict'
import { createAdminKeys } from '../../../src/up/admin-key.ts'
import { provideSecrets } from '../../../src/up/secrets.ts'
import { openVisitor } from '../../support/visitor.ts'
import type { TestWorld } from '../../support/world.ts'
import type { RunSuite } from './suite.ts'

export const testOverview: RunSuite = async (t, scene) => {
  const { world, browser } = scene
  await using visitor = await openVisitor(browser, world.entryUrl)
  const { page } = visitor

  await t.test('every part is up, with its address and how fast it answers', async () => {
    const parts = page.getByRole('region', { name: 'Health of the parts' })
    for (const name of ['Auth', 'Limits', 'GraphQL', 'Mailbox', 'Console']) {
      const part = parts.getByRole('listitem').filter({ hasText: name })
      await part.getByText('Up', { exact: true }).waitFor()
    }
    const auth = parts.getByRole('listitem').filter({ hasText: 'Auth' })
    assert.match((await auth.textContent()) ?? '', /:\d+.*Version\d.*Answers in.* ms/)
    await page.getByText('Live', { exact: true }).waitFor()
  })

  await t.test('a sign-in and decisions show without a reload, to every tab', async () => {
    await page.getByRole('img', { name: /^Decisions per second/ }).waitFor()
    await signSomebodyIn(world, 'overview@example.com')
    const events = page.getByRole('region', { name: 'Latest events' })
    const line = events
      .getByRole('listitem')
      .filter({ hasText: /overview@example\.com.*Signed in/ })
    await line.first().waitFor()
    const signIns = page.getByRole('region', { name: 'Sign-ins' })
    await signIns.locator('.figure-value', { hasText: /[1-9].*\/min/ }).waitFor()

    await askForDecision(world)
    const decisions = page.getByRole('region', { name: 'Rate limit decisions' })
    await decisions.getByText(/^[1-9]\d* in 3 min$/).waitFor()

    const second = await page.context().newPage()
    await second.goto(world.consoleUrl)
    // Nothing new has happened: it is told what happened before.
    await second.locator('.chart .line').first().waitFor()
    await second
      .getByText(/overview@example\.com/)
      .first()
      .waitFor()
    await second.close()
  })

  await t.test('the first visit is shown where to go, until it has had enough', async () => {
    const steps = page.getByRole('region', { name: 'What to do next' })
    await steps.waitFor()
    const targets = ['/users', '/try', '/limits']
    const links = await steps.getByRole('link').all()
    assert.deepEqual(await Promise.all(links.map((link) => link.getAttribute('href'))), targets)
    await steps.getByRole('button', { name: 'Hide these' }).click()
    await steps.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('region', { name: 'Health of the parts' }).waitFor()
    assert.equal(await steps.count(), 0)
  })
}

const password = 'correct horse battery staple'

async function signSomebodyIn({ folder, baseUrls }: TestWorld, email: string): Promise<void> {
  const key = await createAdminKeys(provideSecrets(folder).jwtSecret)()
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const body = JSON.stringify({ email, password, email_confirm: true })
  await fetch(`${baseUrls.auth}/admin/users`, { method: 'POST', headers, body })
  const url = `${baseUrls.auth}/token?grant_type=password`
  const answer = await fetch(url, { method: 'POST', headers, body })
  assert.equal(answer.status, 200)
}

async function askForDecision({ baseUrls }: TestWorld): Promise<void> {
  const entries = [{ key: 'remote_address', value: '192.0.2.7' }]
  const body = JSON.stringify({ domain: 'api', descriptors: [{ entries }] })
  const answer = await fetch(`${baseUrls.ratelimit}/json`, { method: 'POST', body })
  assert.equal(answer.status, 200)
}
