import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { openVisitor } from '../../support/visitor.ts'
import { axePath, findFaults } from './accessibility.ts'
import type { RunSuite } from './suite.ts'

const wide = { width: 1280, height: 860 }
const narrow = { width: 390, height: 844 }

/** Opens every page on a phone and with the keyboard alone, then the dialogs of the whole console. */
export const testNarrow: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl, { viewport: narrow })
  const { page } = visitor
  await page.context().addInitScript({ path: axePath })
  const links = page.getByRole('navigation').getByRole('link')
  const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  assert.ok(paths.length > 0)

  for (const path of paths) {
    await t.test(`${path} works at 390 px, and its content is the second tab stop`, async () => {
      await page.goto(world.consoleUrl + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      assert.deepEqual(await findFaults(page, 'narrow'), [])
      const focused = page.locator(':focus')
      await page.keyboard.press('Tab')
      assert.equal((await focused.textContent())?.trim(), 'Skip to content')
      await page.keyboard.press('Enter')
      await page.locator('#content:focus').waitFor()
      await page.keyboard.press('Tab')
      assert.equal(await page.locator('#content :focus').count(), 1)
      const hidden = await page
        .getByRole('navigation')
        .evaluate((nav) => nav.scrollWidth - nav.clientWidth)
      assert.equal(hidden, 0, 'all links of the navigation are visible')
      const current = page.locator('.nav [aria-current="page"]')
      const box = await current.boundingBox()
      assert.ok(box && box.x >= 0 && box.x + box.width <= narrow.width, 'its link is visible')
    })
  }

  await t.test('the selected tab is visible', async () => {
    await page.goto(`${world.consoleUrl}/settings?tab=templates`)
    const box = await page.getByRole('tab', { name: 'Email templates' }).boundingBox()
    assert.ok(box && box.x >= 0 && box.x + box.width <= narrow.width)
  })

  await t.test('the command palette is accessible', async () => {
    await page.goto(world.consoleUrl)
    const open = async () => {
      await page.getByRole('button', { name: 'Search or run a command' }).click()
      await page.getByRole('combobox').fill('a')
      await page.getByRole('option', { name: 'Mailbox' }).waitFor()
      await page
        .getByRole('status')
        .filter({ hasText: /results$/ })
        .waitFor()
    }
    assert.deepEqual(await findFaultsInDialog(page, open), [])
  })

  await t.test('the list of shortcuts is accessible', async () => {
    const open = async () => {
      await page.keyboard.press('?')
      await page.getByRole('region', { name: 'Everywhere' }).waitFor()
    }
    assert.deepEqual(await findFaultsInDialog(page, open), [])
  })
}

/** Checks that an open dialog is accessible, and that it fits into a narrow window. */
async function findFaultsInDialog(
  page: Page,
  open: () => Promise<void>,
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const look of ['light', 'dark', 'narrow'] as const) {
    await page.setViewportSize(look === 'narrow' ? narrow : wide)
    await page.emulateMedia({ colorScheme: look === 'dark' ? 'dark' : 'light' })
    await open()
    faults.push(...(await findFaults(page, look)))
    const dialog = page.locator('dialog[open]')
    const box = await dialog.boundingBox()
    const width = page.viewportSize()?.width ?? 0
    if (!box || box.x < 0 || box.x + box.width > width) faults.push(`${look}: does not fit`)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  return faults
}
