import assert from 'node:assert/strict'
import { createAdminKeys, provideSecrets } from '../../../src/up/secrets.ts'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { TestWorld } from '../../support/world.ts'
import type { RunSuite } from './suite.ts'

export const testOverview: RunSuite = async (t, scene) => {
  const { world, browser } = scene
  await using visitor = await openVisitor(browser, world.entryUrl, { timezoneId: 'UTC' })
  const { page } = visitor

  await t.test('every part is up, with its address and response time', async () => {
    const parts = page.getByRole('region', { name: 'Health of all parts' })
    for (const name of ['Auth', 'Limits', 'GraphQL', 'Mailbox', 'Console']) {
      const part = parts.getByRole('listitem').filter({ hasText: name })
      await part.getByText('Up', { exact: true }).waitFor()
    }
    const auth = parts.getByRole('listitem').filter({ hasText: 'Auth' })
    assert.match(
      (await auth.textContent()) ?? '',
      /http:\/\/.*:\d+.*Version\d.*Response time.*\sms/,
    )
    // The servers were started before this page was opened.
    const openedAt = await page.evaluate(() => performance.timeOrigin)
    for (const name of ['Auth', 'Limits', 'GraphQL', 'Mailbox', 'Console']) {
      const part = parts.getByRole('listitem').filter({ hasText: name })
      const title = await part.locator('[title^="Since "]').getAttribute('title')
      const startedAt = Date.parse(`${title?.replace('Since ', '')} UTC`)
      assert.ok(startedAt < openedAt, `${name}: ${title}`)
    }
    await page.getByText('Live', { exact: true }).waitFor()
  })

  await t.test('sign-ins and decisions appear without a reload, in every tab', async () => {
    await page.getByRole('img', { name: /^Decisions per second/ }).waitFor()
    await createAndSignIn(world, 'overview@example.com')
    const events = page.getByRole('region', { name: 'Latest events' })
    const line = events
      .getByRole('listitem')
      .filter({ hasText: /overview@example\.com.*Signed in/ })
    await line.first().waitFor()
    const signIns = page.getByRole('region', { name: 'Sign-ins' })
    await signIns.locator('.figure-value', { hasText: /[1-9].*\/min/ }).waitFor()

    await requestDecision(world)
    const decisions = page.getByRole('region', { name: 'Rate limit decisions' })
    await decisions.getByText(/^[1-9]\d* in 15 min$/).waitFor()
    await decisions.getByText('decisions per second', { exact: true }).waitFor()
    await page.getByRole('button', { name: '24 h' }).click()
    await decisions.getByText(/^[1-9]\d* in 24 h$/).waitFor()
    await decisions.getByText('Times in UTC').waitFor()
    // There is no data for yesterday, so nothing is drawn there.
    const chart = await decisions.locator('.chart-plot').boundingBox()
    const drawn = decisions.locator('.chart .line, .chart .point').first()
    const left = (await drawn.boundingBox())?.x ?? 0
    assert.ok(chart && left > chart.x + chart.width / 2, 'a gap is drawn as a gap')
    await page.getByRole('button', { name: '15 min' }).click()

    const second = await page.context().newPage()
    await second.goto(world.consoleUrl)
    // A new tab shows earlier events at once.
    await second.locator('.chart .line, .chart .point').first().waitFor()
    await second
      .getByText(/overview@example\.com/)
      .first()
      .waitFor()
    await second.close()
  })

  await t.test(
    'a failed sign-in is shown with its reason, with and without an account',
    async () => {
      await tryToSignIn(world, 'overview@example.com')
      await tryToSignIn(world, 'unknown@example.com')
      const events = page.getByRole('region', { name: 'Latest events' }).getByRole('listitem')
      const wrong = /Failed to sign in: wrong password/
      await events.filter({ hasText: 'overview@example.com' }).filter({ hasText: wrong }).waitFor()
      await events.filter({ hasText: /unknown@example\.com.*No account/ }).waitFor()
      const signIns = page.getByRole('region', { name: 'Sign-ins' })
      const figure = signIns.locator('.figure-danger')
      await figure.getByText(/^[1-9]/).waitFor()
      await signIns.locator('.chart .second path').first().waitFor({ state: 'attached' })

      await signIns.getByRole('link', { name: 'Failed sign-ins' }).click()
      const rows = page.getByRole('table', { name: 'Failed sign-ins' }).getByRole('row')
      await rows.filter({ hasText: /unknown@example\.com.*No account.*wrong password/ }).waitFor()
      await rows.getByRole('link', { name: 'overview@example.com' }).click()
      const trail = page.getByRole('list', { name: 'Activity' }).getByRole('listitem')
      await trail.filter({ hasText: wrong }).waitFor()
      const times = await trail
        .locator('time')
        .evaluateAll((all) => all.map((time) => Date.parse(time.getAttribute('datetime') ?? '')))
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      )
      await switchTo(page, '/')
    },
  )

  await t.test('without a connection the page says so, and it recovers by itself', async () => {
    const stream = /\/api\/overview\/stream/
    await page.route(stream, (route) => route.abort())
    await switchTo(page, '/')
    await page.getByRole('alert').getByText('The console does not respond.').waitFor()
    await page.unroute(stream)
    await page.getByRole('region', { name: 'Health of all parts' }).waitFor()
    assert.deepEqual(
      visitor.browserErrors.splice(0).filter((error) => !error.includes('ERR_FAILED')),
      [],
    )
  })

  await t.test('next steps are shown until they are done or hidden', async () => {
    const steps = page.getByRole('region', { name: 'Next steps' })
    await steps.waitFor()
    // Users exist by now.
    await steps.getByRole('link', { name: 'Create a user' }).waitFor({ state: 'detached' })
    const targets = ['/try', '/limits']
    const links = await steps.getByRole('link').all()
    assert.deepEqual(await Promise.all(links.map((link) => link.getAttribute('href'))), targets)
    await steps.getByRole('button', { name: 'Hide' }).click()
    await steps.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('region', { name: 'Health of all parts' }).waitFor()
    assert.equal(await steps.count(), 0)
  })
}

const password = 'correct horse battery staple'

async function createAndSignIn({ folder, baseUrls }: TestWorld, email: string): Promise<void> {
  const key = await createAdminKeys(provideSecrets(folder).jwtSecret)()
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const body = JSON.stringify({ email, password, email_confirm: true })
  await fetch(`${baseUrls.auth}/admin/users`, { method: 'POST', headers, body })
  const url = `${baseUrls.auth}/token?grant_type=password`
  const answer = await fetch(url, { method: 'POST', headers, body })
  assert.equal(answer.status, 200)
}

async function tryToSignIn({ baseUrls }: TestWorld, email: string): Promise<void> {
  const answer = await fetch(`${baseUrls.auth}/token?grant_type=password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'not the right one' }),
  })
  assert.equal(answer.status, 400)
}

async function requestDecision({ baseUrls }: TestWorld): Promise<void> {
  const entries = [{ key: 'remote_address', value: '192.0.2.7' }]
  const body = JSON.stringify({ domain: 'api', descriptors: [{ entries }] })
  const answer = await fetch(`${baseUrls.ratelimit}/json`, { method: 'POST', body })
  assert.equal(answer.status, 200)
}
