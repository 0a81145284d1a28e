import type { Page } from 'playwright-core'
import { addManyEvents } from '../test/console/events-database.ts'
import type { TestWorld } from '../test/support/world.ts'

/** Brings a page into the state that the screenshot shows. */
export type Prepare = (page: Page, world: TestWorld) => Promise<void>

/** Everything that the pages load. Without the session, they would not be shown at all. */
const calls = /\/(api\/(?!session)|auth\/)/

/** Shows a page while the console server does not answer. */
export function showUnreachable(path: string): Prepare {
  return async (page, { consoleUrl }) => {
    await page.route(calls, (route) => route.abort())
    await page.goto(consoleUrl + path)
    await page.getByRole('alert').first().waitFor()
  }
}

/** Shows a page that waits for its data. */
export function showLoading(path: string): Prepare {
  return async (page, { consoleUrl }) => {
    await page.route(calls, () => {})
    await page.goto(consoleUrl + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('.loading').first().waitFor()
  }
}

interface Answer {
  /** The path of the call. */
  readonly call: string
  /** Returns what the page receives instead of the answer of the server. */
  readonly change: (answer: never) => unknown
  /** The number of items on all pages. */
  readonly total?: number
}

/** Shows a page with other data than the server has, once it contains a text. */
export function showAnswer(
  path: string,
  { call, change, total = 0 }: Answer,
  text: string,
): Prepare {
  return async (page, { consoleUrl }) => {
    await page.route(
      (url) => url.pathname === call,
      async (route) => {
        const response = await route.fetch()
        const json = change((await response.json()) as never)
        const headers = { ...response.headers(), 'x-total-count': `${total}` }
        await route.fulfill({ response, headers, json })
      },
    )
    await page.goto(consoleUrl + path)
    await page.getByText(text).first().waitFor()
  }
}

/** Shows the page before the service has counted anything. */
export async function showNoKeys(page: Page, { consoleUrl }: TestWorld): Promise<void> {
  const none = { seconds: 12, isEstimate: false, floor: 0, keys: [] }
  const update = { limited: { by: 'limited', ...none }, calls: { by: 'calls', ...none } }
  await page.route(
    (url) => url.pathname === '/api/limits/top',
    (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `event: top\ndata: ${JSON.stringify(update)}\n\n`,
      }),
  )
  await page.goto(`${consoleUrl}/limits?view=keys`)
  await page.getByRole('heading', { name: 'No hits over a limit' }).waitFor()
}

const prepared = new WeakSet<TestWorld>()
const address = '198.51.100.7'

/** Shows the end of a thousand events. */
export async function showManyEvents(page: Page, world: TestWorld): Promise<void> {
  if (!prepared.has(world)) {
    prepared.add(world)
    await addManyEvents(world, { count: 1_200, address })
  }
  await page.goto(`${world.consoleUrl}/events?address=${address}`)
  const older = page.getByRole('button', { name: 'Load older events' })
  const rows = page.getByRole('row')
  await older.waitFor()
  for (let count = await rows.count(); count <= 1_000; count = await rows.count()) {
    await older.click()
    await rows.nth(count).waitFor()
  }
  await older.scrollIntoViewIfNeeded()
}

/** Repeats the items of a list until there are a thousand. */
export function toThousand<Item>(
  items: readonly Item[],
  change: (item: Item, index: number) => Item,
): readonly Item[] {
  return Array.from({ length: 1_000 }, (_, index) => index).flatMap((index) => {
    const item = items[index % items.length]
    return item === undefined ? [] : [change(item, index)]
  })
}
