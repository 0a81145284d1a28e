import type { Page } from 'playwright-core'
import type { TestWorld } from '../test/support/world.ts'
import { showFailures } from './users-scene.ts'

/** Shows sign-ins, failures with different reasons, and changes of accounts. */
export async function showEvents(page: Page, world: TestWorld): Promise<void> {
  await showFailures(page, world)
  await page.goto(`${world.consoleUrl}/events`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('row').nth(3).waitFor()
}

/** Shows the list with a failed sign-in open beside it. */
export async function showOneEvent(page: Page, world: TestWorld): Promise<void> {
  await showEvents(page, world)
  await page
    .getByRole('row', { name: /grace\.hopper/ })
    .filter({ hasText: 'wrong password' })
    .first()
    .click()
  await page.getByRole('complementary').getByText('Last sign-in').waitFor()
}

/** Shows a search without results. */
export async function showNoEvents(page: Page, { consoleUrl }: TestWorld): Promise<void> {
  await page.goto(`${consoleUrl}/events?name=unknown%40example.net&failed=true&since=1h`)
  await page.getByRole('heading', { name: 'No events match' }).waitFor()
}
