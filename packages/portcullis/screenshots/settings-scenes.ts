import type { Page } from 'playwright-core'
import type { TestWorld } from '../test/support/world.ts'

/** Shows a tab of the page, once it contains a text. */
export function showSettings(tab: string, text: string) {
  return async (page: Page, { consoleUrl }: TestWorld): Promise<void> => {
    await page.goto(`${consoleUrl}/settings`)
    await page.getByRole('tab', { name: tab, exact: true }).click()
    await page.getByText(text, { exact: true }).first().waitFor()
    if (tab !== 'Email templates') return
    await page.frameLocator('iframe').getByText('Confirm your address').first().waitFor()
  }
}
