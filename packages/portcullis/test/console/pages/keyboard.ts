import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'

export const testKeyboard: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl)
  const { page } = visitor
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })

  await t.test('? lists the shortcuts of the page and the global ones', async () => {
    await switchTo(page, '/users')
    await page.getByRole('searchbox', { name: 'Search users' }).waitFor()
    await page.keyboard.press('?')
    const ofPage = help.getByRole('region', { name: 'This page' })
    await ofPage.getByText('Search users').waitFor()
    const everywhere = help.getByRole('region', { name: 'Everywhere' })
    assert.match((await everywhere.textContent()) ?? '', /Show keyboard shortcuts\?/)
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })

    await switchTo(page, '/')
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await everywhere.waitFor()
    assert.equal(await ofPage.getByText('Search users').count(), 0)
    await help.getByRole('button', { name: 'Close' }).click()
    await page.locator('.help-button:focus').waitFor()
  })

  await t.test('every listed page opens with its keys', async () => {
    const links = page.getByRole('navigation').getByRole('link')
    const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    await page.keyboard.press('g')
    const hints = page.locator('.pending-keys li')
    await hints.first().waitFor()
    const keys = await hints.locator('kbd').allTextContents()
    await page.keyboard.press('Escape')
    await hints.first().waitFor({ state: 'detached' })
    assert.equal(keys.length, paths.length)
    for (const [index, key] of keys.entries()) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForURL((url) => url.pathname === paths[index])
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (index > 0) await page.locator('#content:focus').waitFor()
    }
  })

  for (const [path, name] of [
    ['/users', 'Search users'],
    ['/mailbox', 'Search messages'],
  ] as const) {
    await t.test(
      `/ focuses the search of ${path}, and is an ordinary character in it`,
      async () => {
        if (path === '/mailbox') await receiveMessage(world.baseUrls.auth, 'keyboard@example.com')
        await switchTo(page, path)
        const field = page.getByRole('searchbox', { name })
        await field.waitFor()
        await page.keyboard.press('/')
        await page.locator('input[type="search"]:focus').waitFor()
        assert.equal(await field.inputValue(), '')
        for (const key of ['/', '?', 'g', 'u']) await page.keyboard.press(key)
        assert.equal(await field.inputValue(), '/?gu')
        assert.equal(new URL(page.url()).pathname, path)
        assert.equal(await help.count(), 0)
        await field.fill('')
      },
    )
  }

  await t.test('keys with modifiers belong to the browser', async () => {
    await switchTo(page, '/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await pressUnhandled(page, { key: '/', ctrlKey: true })
    await pressUnhandled(page, { key: '?', altKey: true, shiftKey: true })
    await pressUnhandled(page, { key: 'K', ctrlKey: true, shiftKey: true })
    await pressUnhandled(page, { key: 'g', metaKey: true })
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  await t.test('single-key shortcuts can be turned off', async () => {
    await page.keyboard.press('?')
    const choice = help.getByRole('checkbox', { name: 'Use single-key shortcuts' })
    await choice.uncheck()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await pressUnhandled(page, { key: '?', shiftKey: true })
    await pressUnhandled(page, { key: 'g' })
    // The palette still works, and its action leads back to the choice.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('keyboard shortcuts')
    await page.keyboard.press('Enter')
    await choice.check()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await help.waitFor()
    await page.keyboard.press('Escape')
  })
}

type Press = Readonly<
  { key: string } & Partial<Record<'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey', true>>
>

/** Presses a key and checks that the console leaves it to the browser. */
async function pressUnhandled(page: Page, init: Press): Promise<void> {
  const isLeft = await page.evaluate(
    (event) =>
      document.body.dispatchEvent(
        new KeyboardEvent('keydown', { ...event, bubbles: true, cancelable: true }),
      ),
    init,
  )
  assert.ok(isLeft, JSON.stringify(init))
}

/** Adds a message to the mailbox, because an empty one has neither a search nor actions. */
export async function receiveMessage(authUrl: string, email: string): Promise<void> {
  const answer = await fetch(`${authUrl}/otp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  assert.equal(answer.status, 200)
}
