import assert from 'node:assert/strict'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/** A browser profile with the console open. */
export interface Visitor extends AsyncDisposable {
  readonly page: Page
  /** Errors and warnings of the browser. A test removes those that it expects. */
  readonly browserErrors: string[]
}

/** Opens the console in a new profile. Any remaining browser errors fail the test. */
export async function openVisitor(
  browser: Browser,
  entryUrl: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const browserErrors: string[] = []
  page.on('pageerror', (error) => browserErrors.push(`${error.name}: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      browserErrors.push(message.text())
  })
  await page.goto(entryUrl)
  await page.getByRole('navigation').waitFor()
  return {
    page,
    browserErrors,
    async [Symbol.asyncDispose]() {
      await context.close()
      assert.deepEqual(browserErrors, [])
    },
  }
}

/**
 * Switches to another page of the console as if it were opened for the first time. The console itself is not
 * loaded again, which would take longer than most tests.
 */
export async function switchTo(page: Page, path: string): Promise<void> {
  const notFound = page.getByRole('heading', { level: 1, name: 'Page not found' })
  await page.evaluate(follow, '/between-two-pages')
  await notFound.waitFor()
  await page.evaluate(follow, path)
  await notFound.waitFor({ state: 'detached' })
}

/** Runs in the page. */
function follow(path: string): void {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
}

/** Resolves when the clipboard contains the text: a page writes it some time after the click. */
export async function waitForClipboard(page: Page, text: string): Promise<void> {
  await page.waitForFunction(
    async (expected) => (await navigator.clipboard.readText()) === expected,
    text,
  )
}
