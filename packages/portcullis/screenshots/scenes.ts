import type { Page } from 'playwright-core'
import type { TestWorld } from '../test/support/world.ts'

/** Brings a page into a state worth a picture. */
type Prepare = (page: Page, world: TestWorld) => Promise<void>

const show =
  (path: string): Prepare =>
  async (page, { consoleUrl }) => {
    await page.goto(consoleUrl + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }

/** By the name of the picture. */
export const scenes: Readonly<Record<string, Prepare>> = {
  overview: show('/'),
  users: show('/users'),
  mailbox: show('/mailbox'),
  limits: show('/limits'),
  graphql: show('/graphql-audits'),
  try: show('/try'),
}
