import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { openVisitor, switchTo } from '../../support/visitor.ts'
import type { RunSuite } from './suite.ts'

export const axePath = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))
/** Text that is hidden in narrow windows must not be the only name of a control. */
const nameRules = ['button-name', 'link-name', 'label', 'select-name', 'aria-command-name']
/** More tab stops than any page has at first. */
const mostStops = 120
const missing = '/no-such-page'

export const testAccessibility: RunSuite = async (t, { browser, world }) => {
  await using visitor = await openVisitor(browser, world.entryUrl, {
    viewport: { width: 1280, height: 860 },
  })
  const { page } = visitor
  await page.context().addInitScript({ path: axePath })
  await page.reload()
  await page.getByRole('navigation').waitFor()

  const links = page.getByRole('navigation').getByRole('link')
  const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  assert.ok(paths.length > 0)
  for (const path of [...paths, '/limits?view=keys', missing]) {
    await t.test(`${path} is accessible`, async () => {
      await page.setViewportSize({ width: 1280, height: 860 })
      await page.emulateMedia({ colorScheme: 'light' })
      if (path === missing) await page.goto(world.consoleUrl + path)
      else await switchTo(page, path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      // Wait until everything has loaded.
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      const faults = [...(await findFaults(page, 'light'))]
      await page.emulateMedia({ colorScheme: 'dark' })
      // Only the colours have changed.
      faults.push(...(await findFaults(page, 'dark', ['color-contrast'])))
      faults.push(...(await walkByTab(page)))
      await page.setViewportSize({ width: 390, height: 844 })
      faults.push(...(await findFaults(page, 'narrow', nameRules)))
      assert.deepEqual(faults, [])

      assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1)
      for (const landmark of ['banner', 'navigation', 'main'] as const) {
        assert.equal(await page.getByRole(landmark).count(), 1, landmark)
      }
      const overhang = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      assert.equal(overhang, 0, 'horizontal scrolling in a narrow window')
    })
  }
}

/** Checks a page in its current state: light, dark and narrow. Restores a wide window in the light scheme. */
export async function findFaultsOfState(page: Page): Promise<readonly string[]> {
  // The content security policy refuses script elements, but not the debugger.
  await page.evaluate(readFileSync(axePath, 'utf8'))
  const faults = [...(await findFaults(page, 'light'))]
  await page.emulateMedia({ colorScheme: 'dark' })
  faults.push(...(await findFaults(page, 'dark', ['color-contrast'])))
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 390, height: 844 })
  faults.push(...(await findFaults(page, 'narrow', nameRules)))
  const overhang = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  if (overhang !== 0) faults.push(`narrow: horizontal scrolling by ${overhang} px`)
  await page.setViewportSize({ width: 1280, height: 860 })
  return faults
}

/** Checks names of controls, landmarks, contrast and more with axe. */
export async function findFaults(
  page: Page,
  look: string,
  rules?: readonly string[],
): Promise<readonly string[]> {
  const { violations } = await page.evaluate((only) => {
    // Added by the init script.
    const axe: typeof import('axe-core') = Reflect.get(window, 'axe')
    // The only frames are emails, whose origin refuses the messages of axe.
    const options = { resultTypes: ['violations' as const], iframes: false }
    return axe.run(document, { ...options, ...(only && { runOnly: [...only] }) })
  }, rules)
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${look}: ${id}: ${html}`))
}

/** Returns controls that never receive the focus, or do not show it. */
async function walkByTab(page: Page): Promise<readonly string[]> {
  const faults: string[] = []
  await page.evaluate(unmark)
  for (let stop = 0; stop < mostStops; stop += 1) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate(markFocused)
    if (found === 'first again') break
    if (found.startsWith('unseen')) faults.push(found)
  }
  return [...faults, ...(await page.evaluate(findUnreached))]
}

/** Runs in the page. Elements shared by all pages were marked on the previous page. */
function unmark(): void {
  for (const element of document.querySelectorAll('[data-reached]')) {
    element.removeAttribute('data-reached')
    element.removeAttribute('data-first')
  }
}

/** Runs in the page. */
function markFocused(): string {
  const active = document.activeElement
  if (active === null || active === document.body) return 'outside'
  if (active instanceof HTMLIFrameElement) {
    // A link in an email has the focus; there may be several.
    active.setAttribute('data-reached', '')
    return 'inside a frame'
  }
  if (active.hasAttribute('data-first')) return 'first again'
  // The rows of a live table may change their order, so that one is reached twice before others.
  if (active.hasAttribute('data-reached')) return 'again'
  if (document.querySelector('[data-reached]') === null) active.setAttribute('data-first', '')
  active.setAttribute('data-reached', '')
  // In a grid, the active row shows the focus.
  const pointed = document.getElementById(active.getAttribute('aria-activedescendant') ?? '')
  const isSeen = [active, ...active.children, ...(pointed ? [pointed] : [])].some((element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
    const hasOutline = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
    return hasOutline || boxShadow !== 'none'
  })
  return isSeen ? 'seen' : `unseen: ${active.outerHTML.slice(0, 120)}`
}

/** Runs in the page. */
function findUnreached(): string[] {
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
  return [...document.querySelectorAll<HTMLElement>(usable)]
    .filter((element) => {
      if (element.tabIndex < 0 || element.matches(':disabled, [data-reached]')) return false
      // In a group of radio buttons, only one is a tab stop.
      if (element instanceof HTMLInputElement && element.type === 'radio') return false
      return element.checkVisibility({ visibilityProperty: true })
    })
    .map((element) => `unreached: ${element.outerHTML.slice(0, 120)}`)
}
