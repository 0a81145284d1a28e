import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { TestWorld } from '../../support/world.ts'
import { addManyEvents, removeManyEvents } from '../events-database.ts'
import type { RunSuite } from './suite.ts'

const password = 'correct horse battery staple'
const program = join(import.meta.dirname, '../../../src/main.ts')

/** All tests share one visitor and the same user: each test continues where the previous one ended. */
export const testEvents: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl.replace('/?', '/events?'))
  const { page, browserErrors } = visitor
  const run = (name: string, act: () => Promise<void>) =>
    t.test(name, async () => {
      await act()
      assert.deepEqual(browserErrors, [])
    })
  const mark = Math.random().toString(36).slice(2, 8)
  const email = `eve-${mark}@example.org`
  const unknown = `unknown-${mark}@example.org`
  const rows = page.getByRole('grid').locator('tbody tr')
  const failed = rows.filter({ hasText: 'Failed to sign in: wrong password' })
  const openPanel = page.getByRole('complementary', { name: 'Event details' })

  await run('new events appear while the page is open', async () => {
    await page.getByText('Live', { exact: true }).waitFor()
    await createUser(page, world, email)
    await rows.filter({ hasText: email }).filter({ hasText: 'The account was created' }).waitFor()
    assert.equal((await signIn(world, email)).status, 200)
    await rows.filter({ hasText: email }).filter({ hasText: 'Signed in' }).waitFor()
    await signIn(world, unknown)
    const row = failed.filter({ hasText: unknown })
    await row.getByText('No account').waitFor()
    // A repeated failure replaces its row. Only failures within the same ten minutes are one event.
    const repeated = row.filter({ hasText: /wrong password, \d+ times/ })
    while ((await repeated.count()) === 0) await signIn(world, unknown)
    const ids = await row.evaluateAll((all) => all.map(({ id }) => id))
    assert.equal(new Set(ids).size, ids.length)
  })

  await run('a phone number has its plus sign', async () => {
    const phone = `1555${Math.random().toString().slice(2, 9)}`
    await fetch(`${world.baseUrls.auth}/token?grant_type=password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ phone: `+${phone}`, password }),
    })
    await rows.getByText(`+${phone}`).waitFor()
  })

  await run('two filters share a row on a phone', async () => {
    const size = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    const boxes = await Promise.all(
      ['IP address', 'Event'].map((name) => page.getByLabel(name, { exact: true }).boundingBox()),
    )
    await page.setViewportSize(size ?? { width: 1280, height: 720 })
    const [one, other] = boxes
    assert.ok(one && other && other.y < one.y + one.height && other.x >= one.x + one.width)
  })

  await run('the list can be paused, and continues without a gap', async () => {
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused').waitFor()
    await signIn(world, email, 'not the right one')
    // The failure is stored, and the paused list does not show it.
    await waitForEvent(page, world, `name=${email}&failed=true`)
    assert.equal(await failed.filter({ hasText: email }).count(), 0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await failed.filter({ hasText: email }).waitFor()
  })

  await run('filters are in the URL, and a reload keeps them', async () => {
    await switchTo(page, '/events')
    await page.getByLabel('User', { exact: true }).fill(email.toUpperCase())
    await rows.filter({ hasText: unknown }).first().waitFor({ state: 'detached' })
    await page.getByLabel('Event', { exact: true }).selectOption({ label: 'Failed sign-ins' })
    await rows.filter({ hasText: 'Signed in' }).first().waitFor({ state: 'detached' })
    await failed.filter({ hasText: email }).waitFor()
    await page.getByLabel('Time', { exact: true }).selectOption({ label: 'Last hour' })
    // The text of a field is added to the URL a moment after the last key.
    await page.waitForURL(({ searchParams: found }) => found.has('name') && found.has('since'))
    const { searchParams } = new URL(page.url())
    assert.deepEqual(Object.fromEntries(searchParams), {
      ...{ name: email.toUpperCase(), failed: 'true', since: '1h' },
    })
    await page.reload()
    await failed.filter({ hasText: email }).waitFor()
    assert.equal(await rows.count(), 1)
    assert.equal(await page.getByLabel('User', { exact: true }).inputValue(), email.toUpperCase())

    await page
      .getByLabel('Event', { exact: true })
      .selectOption({ label: 'Failed: too many attempts' })
    await page.getByRole('heading', { name: 'No events match' }).waitFor()
    await page.getByRole('link', { name: 'show all events' }).click()
    await rows.filter({ hasText: unknown }).first().waitFor()
    assert.equal(new URL(page.url()).search, '')

    await page.getByLabel('Time', { exact: true }).selectOption({ label: 'From … to …' })
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00:00')
    await page.getByRole('heading', { name: 'No events match' }).waitFor()
    await page.getByText('Not live').waitFor()
    await page.getByRole('link', { name: 'Show newest events' }).click()
    await rows.first().waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
  })

  await run('an invalid filter is refused with its reason', async () => {
    await switchTo(page, '/events')
    await page.getByText('Live', { exact: true }).waitFor()
    const field = page.getByLabel('IP address')
    await field.fill('not-an-address')
    // A new event does not change the text that someone is typing.
    const late = `late-${mark}@example.org`
    await signIn(world, late)
    await rows.filter({ hasText: late }).waitFor()
    assert.equal(await field.inputValue(), 'not-an-address')
    await field.press('Enter')
    await page.getByText('address must be an IP address such as 203.0.113.5').waitFor()
    const refusal = browserErrors.findIndex((text) => text.includes('400'))
    assert.notEqual(refusal, -1)
    browserErrors.splice(refusal, 1)
  })

  await run('a row opens everything that is known, with links', async () => {
    await switchTo(page, `/events?name=${email}&action=login`)
    await rows.first().click()
    await openPanel.getByRole('heading', { name: 'Signed in' }).waitFor()
    await openPanel.getByText('Can sign in').waitFor()
    await openPanel.getByText(/"actor_username": "eve-/).waitFor()
    const facts = openPanel.locator('dl')
    await facts.getByText('events-test/1.0').waitFor()
    await facts.getByText('Request ID', { exact: true }).waitFor()
    await openPanel.getByText(/^"request_id":"[\da-f-]{36}"$/).waitFor()
    await openPanel.getByText('127.0.0.1').first().waitFor()
    await page.reload()
    await openPanel.getByRole('heading', { name: 'Signed in' }).waitFor()
    const id = /"actor_id": "([\da-f-]{36})"/.exec(await openPanel.innerText())?.[1] ?? ''

    await openPanel.getByRole('link', { name: 'All events of this user' }).click()
    await rows.filter({ hasText: 'The account was created' }).waitFor()
    assert.equal(new URL(page.url()).search, `?user=${id}`)
    await failed.click()
    await openPanel.getByText('wrong_password').first().waitFor()
    await facts.getByText('events-test/1.0').waitFor()
    await openPanel.getByText(/^"request_id":"[\da-f-]{36}"$/).waitFor()
    await openPanel.getByRole('link', { name: 'All events from this IP address' }).click()
    await page.waitForURL('**/events?address=127.0.0.1')
    await failed.filter({ hasText: unknown }).first().click()
    await openPanel.getByText('No account').waitFor()
    await openPanel.getByRole('link', { name: 'All events with this name' }).waitFor()
    await page.keyboard.press('Escape')
    await openPanel.waitFor({ state: 'detached' })

    await switchTo(page, `/users?id=${id}&tab=activity`)
    await page.getByRole('link', { name: 'All events', exact: true }).click()
    await page.waitForURL(`**/events?user=${id}`)
    await rows.filter({ hasText: 'Signed in' }).click()
    await openPanel.getByRole('link', { name: 'Open user' }).click()
    await page.getByRole('heading', { name: email }).waitFor()
  })

  await run('an event that is not in the list is found by its URL', async () => {
    await switchTo(page, `/events?name=${email}&action=login`)
    await rows.first().click()
    await openPanel.getByRole('heading', { name: 'Signed in' }).waitFor()
    const event = new URL(page.url()).searchParams.get('event') ?? ''
    await switchTo(page, `/events?failed=true&event=${encodeURIComponent(event)}`)
    await openPanel.getByRole('heading', { name: 'Signed in' }).waitFor()
    const other = event.replace(/_.*/, '_00000000-0000-4000-8000-000000000000')
    await switchTo(page, `/events?failed=true&event=${encodeURIComponent(other)}`)
    await openPanel.getByText('Event not found').waitFor()
  })

  await run('the list can be navigated by keyboard', async () => {
    await switchTo(page, `/events?name=${email}`)
    await rows.nth(2).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await openPanel.getByRole('heading', { name: 'The account was created' }).waitFor()
    await page.keyboard.press('Escape')
    await openPanel.waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('grid').evaluate((grid) => grid.matches(':focus')), true)
  })

  await run('thousands of events are loaded in pages, and never more than 2,000', async () => {
    const address = '198.51.100.77'
    await addManyEvents(world, { count: 2_350, address })
    try {
      await switchTo(page, `/events?address=${address}`)
      await page.getByText('100 events are shown.').waitFor()
      const older = page.getByRole('button', { name: 'Load older events' })
      for (let count = 200; count < 2_000; count += 100) {
        await older.click()
        await page.getByText(`${count.toLocaleString('en')} events are shown.`).waitFor()
      }
      await older.click()
      await page.getByText('2,000 events are shown, the maximum on one page.').waitFor()
      await page.getByRole('link', { name: 'Continue with older events' }).click()
      await rows.filter({ hasText: 'person-350@example.com' }).waitFor()
      await page.getByText('Not live').waitFor()
    } finally {
      await removeManyEvents(world, address)
    }
  })

  await run('a lost connection is shown, and the list continues afterwards', async () => {
    await switchTo(page, `/events?name=${email}`)
    await page.getByText('Live', { exact: true }).waitFor()
    const before = await rows.count()
    await page.route('**/api/events/stream*', (route) => route.abort())
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Connecting…', { exact: true }).waitFor()
    assert.equal((await signIn(world, email)).status, 200)
    await page.unroute('**/api/events/stream*')
    await rows.nth(before).waitFor()
    browserErrors.splice(
      0,
      browserErrors.length,
      ...browserErrors.filter((text) => !text.includes('ERR_FAILED')),
    )
  })

  await run('portcullis events tail finds the running server and prints the same', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[program, 'events', 'tail', '--data', world.folder, '--user', email],
      ...['--no-follow', '--json'],
    ])
    const payloads = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).payload)
    assert.deepEqual(
      payloads.map(({ action }) => action),
      ['user_signedup', 'login', 'login_failed', 'login'],
    )
    for (const { user_agent: agent, request_id: requestId } of payloads.slice(1)) {
      assert.equal(agent, 'events-test/1.0')
      assert.match(requestId, /^[\da-f-]{36}$/)
    }
  })
}

async function createUser(page: Page, { consoleUrl }: TestWorld, email: string): Promise<void> {
  const answer = await page.request.post(`${consoleUrl}/api/users`, {
    headers: { 'x-portcullis-console': '1' },
    data: { email, password, email_confirm: true },
  })
  assert.equal(answer.status(), 200)
}

function signIn({ baseUrls }: TestWorld, email: string, tried = password): Promise<Response> {
  return fetch(`${baseUrls.auth}/token?grant_type=password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'events-test/1.0' },
    body: JSON.stringify({ email, password: tried }),
  })
}

/** Waits until the auth server has stored an event, since failures are written after the response. */
async function waitForEvent(page: Page, { consoleUrl }: TestWorld, query: string): Promise<void> {
  for (;;) {
    const answer = await page.request.get(`${consoleUrl}/api/events?${query}`, {
      headers: { 'x-portcullis-console': '1' },
    })
    if ((await answer.json()).events.length > 0) return
  }
}
