import assert from 'node:assert/strict'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/** Somebody who looks at the console. */
export interface Visitor extends AsyncDisposable {
  readonly page: Page
  /** What the browser complained about, which a test may look at and take out. */
  readonly complaints: string[]
}

/** How long the browser waits for anything. It only ends what hangs: a busy machine is slow. */
const hangMs = 120_000

/** Opens the console in a fresh profile. Whatever the browser complains about fails the test in the end. */
export async function openVisitor(
  browser: Browser,
  entryUrl: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(hangMs)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`${error.name}: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  await page.goto(entryUrl)
  await page.getByRole('navigation').waitFor()
  return {
    page,
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close()
      assert.deepEqual(complaints, [])
    },
  }
}

/**
 * Another page of the console, as if opened anew: of what the one before showed nothing is left. The console
 * itself is not loaded again, which would cost more than most tests do.
 */
export async function turnTo(page: Page, path: string): Promise<void> {
  const nothing = page.getByRole('heading', { level: 1, name: 'Nothing here' })
  await page.evaluate(follow, '/between-two-pages')
  await nothing.waitFor()
  await page.evaluate(follow, path)
  await nothing.waitFor({ state: 'detached' })
}

/** Runs in the page. */
function follow(path: string): void {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
}
