import assert from 'node:assert/strict'
import { createAdminKeys, provideSecrets } from '../../../src/up/secrets.ts'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { TestWorld } from '../../support/world.ts'
import { receiveMessage } from './keyboard.ts'
import type { RunSuite } from './suite.ts'

export const testPalette: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl)
  const { page } = visitor
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  const field = palette.getByRole('combobox')
  const options = palette.getByRole('option')
  const selected = palette.locator('[role="option"][aria-selected="true"]')
  const open = async () => {
    await page.keyboard.press('Control+k')
    await page.locator('[role="combobox"]:focus').waitFor()
  }

  await t.test('it opens a page, and the focus moves to the page', async () => {
    await open()
    await page.keyboard.type('lim')
    await selected.filter({ hasText: 'Limits' }).waitFor()
    assert.equal(
      await field.getAttribute('aria-activedescendant'),
      await selected.getAttribute('id'),
    )
    await page.keyboard.press('Enter')
    await page.waitForURL('**/limits')
    await palette.waitFor({ state: 'detached' })
    await page.locator('#content:focus').waitFor()
  })

  await t.test('it finds a page by what is on it', async () => {
    for (const [text, title] of [
      ['top keys', 'Limits'],
      ['templates', 'Settings'],
      ['audit log', 'Events'],
    ] as const) {
      await open()
      await page.keyboard.type(text)
      await selected.filter({ hasText: title }).waitFor()
      await page.keyboard.press('Escape')
      await palette.waitFor({ state: 'detached' })
    }
  })

  await t.test('the arrow keys move the choice, and Escape returns the focus', async () => {
    const button = page.getByRole('button', { name: 'Search or run a command' })
    await button.click()
    await field.waitFor()
    const names = await options.allTextContents()
    assert.ok(names.length > 6)
    const press = async (key: string, wanted: string | undefined) => {
      await page.keyboard.press(key)
      await selected.filter({ hasText: wanted ?? '' }).waitFor()
    }
    await press('ArrowDown', names[1])
    await press('ArrowUp', names[0])
    await press('ArrowUp', names.at(-1))
    await press('ArrowDown', names[0])
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await page.locator('.palette-button:focus').waitFor()
    await open()
    await page.keyboard.press('Control+k')
    await palette.waitFor({ state: 'detached' })
  })

  await t.test('it runs actions of the console and of the page', async () => {
    await open()
    await page.keyboard.type('dark')
    await selected.filter({ hasText: 'Use the dark theme' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme="dark"]').waitFor()
    await page.getByRole('button', { name: /^Theme: dark/ }).waitFor()
    await open()
    await page.keyboard.type('system')
    await page.keyboard.press('Enter')
    await page.locator('html:not([data-theme])').waitFor()

    await open()
    await field.fill('clear mailbox')
    await palette.getByText(/^Nothing matches/).waitFor()
    await page.keyboard.press('Escape')
    await switchTo(page, '/mailbox')
    await receiveMessage(world.baseUrls.auth, 'palette@example.com')
    await page.getByRole('button', { name: 'Clear mailbox' }).waitFor()
    await open()
    await field.fill('clear mailbox')
    await options.filter({ hasText: 'Clear mailbox' }).click()
    const question = page.getByRole('dialog', { name: 'Clear the mailbox?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })

    await switchTo(page, '/users')
    await page.getByRole('button', { name: 'Create user' }).first().waitFor()
    await open()
    await field.fill('new user')
    await selected.filter({ hasText: 'Create user' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Create user' }).waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('it signs out', async () => {
    await using leaver = await openVisitor(browser, world.entryUrl)
    await leaver.page.keyboard.press('Control+k')
    await leaver.page.getByRole('combobox').fill('sign out')
    await leaver.page.getByRole('option', { name: 'Sign out' }).click()
    await leaver.page.getByRole('heading', { name: 'Access denied' }).waitFor()
    for (const error of leaver.browserErrors.splice(0)) assert.match(error, /status of 401/)
  })

  await t.test('it searches users on the server, and shows at most eight of them', async () => {
    for (let number = 1; number <= 10; number += 1) {
      await createUser(world, `palette-${number}@example.com`)
    }
    await open()
    await page.keyboard.type('PALETTE-')
    const users = palette.getByRole('group', { name: 'Users' }).getByRole('option')
    await users.filter({ hasText: 'Show all 10 users that match' }).waitFor()
    assert.equal(await users.filter({ hasText: '@example.com' }).count(), 8)
    await users.filter({ hasText: 'Show all' }).click()
    await page.waitForURL(/\/users\?q=PALETTE-/)

    await open()
    await page.keyboard.type('palette-7')
    await users.filter({ hasText: 'palette-7@example.com' }).waitFor()
    await selected.filter({ hasText: 'palette-7@example.com' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/users\?id=[\da-f-]{36}/)
    const id = new URL(page.url()).searchParams.get('id') ?? ''

    await open()
    await page.keyboard.type(id)
    await users.filter({ hasText: 'palette-7@example.com' }).waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('a newer search cancels an older one', async () => {
    const isFirst = /\/api\/users\?filter=older/
    // Never answered.
    await page.route(isFirst, () => {})
    await open()
    const asked = page.waitForRequest(isFirst)
    await page.keyboard.type('older')
    await asked
    await palette.getByText('Searching…').waitFor()
    const cancelled = page.waitForEvent('requestfailed', (request) => isFirst.test(request.url()))
    await field.fill('palette-3')
    await cancelled
    await options.filter({ hasText: 'palette-3@example.com' }).waitFor()
    await page.unroute(isFirst)
    await page.keyboard.press('Escape')
  })

  await t.test('it finds rules, and opens them in the editor', async () => {
    await open()
    await page.keyboard.type('remote_address 100')
    const rules = palette.getByRole('group', { name: 'Rules' }).getByRole('option')
    await rules.first().waitFor()
    assert.match((await rules.first().textContent()) ?? '', /remote_address.*api, 100 per minute/)
    await rules.first().click()
    await page.waitForURL(/\/limits\?view=files&file=api\.yaml&line=\d+/)
  })

  await t.test('it says why users or rules are missing, and when nothing matches', async () => {
    await open()
    await field.fill('no such thing')
    await palette.getByText('Nothing matches “no such thing”.').waitFor()
    await palette.getByRole('status').filter({ hasText: 'No results' }).waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    const calls = /\/api\/(?:users|limits\/rules)/
    await page.route(calls, (route) => route.abort())
    await open()
    await field.fill('palette')
    const faults = palette.getByRole('alert')
    await faults.filter({ hasText: 'Users could not be searched: The console does not' }).waitFor()
    await faults.filter({ hasText: 'Rules could not be searched: The console does not' }).waitFor()
    await page.unroute(calls)
    await page.keyboard.press('Escape')
    for (const error of visitor.browserErrors.splice(0)) assert.match(error, /ERR_FAILED/)
  })
}

async function createUser({ folder, baseUrls }: TestWorld, email: string): Promise<void> {
  const key = await createAdminKeys(provideSecrets(folder).jwtSecret)()
  const answer = await fetch(`${baseUrls.auth}/admin/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ email, email_confirm: true }),
  })
  assert.equal(answer.status, 200)
}
