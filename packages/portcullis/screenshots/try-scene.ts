import type { Page } from 'playwright-core'
import { inventEmail, openMessage, signUp } from '../test/console/pages/try-steps.ts'
import type { TestWorld } from '../test/support/world.ts'

/** Shows a signed-in user with a GraphQL response and a second factor that is half set up. */
export async function showTry(page: Page, { consoleUrl }: TestWorld): Promise<void> {
  await page.goto(`${consoleUrl}/try`)
  const email = inventEmail('ada')
  await signUp(page, email)
  await openMessage(page, email)
  await page.getByRole('link', { name: 'Open link' }).click()
  await page.getByRole('button', { name: 'Send query', exact: true }).click()
  await page.getByText('ratelimit-remaining').waitFor()
  await page.getByRole('button', { name: 'Set up app' }).click()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await page.evaluate(() => scrollTo(0, 0))
}
