import type { Page } from 'playwright-core'
import type { TestWorld } from '../test/support/world.ts'
import { showLimits, showRuleFiles } from './limits-scenes.ts'
import { showMailbox } from './mailbox-scene.ts'
import { showBusyOverview } from './overview.ts'
import { showTry } from './try-scene.ts'
import {
  prepareOneUser,
  prepareUsers,
  showDialog,
  showFailures,
  showNoUsers,
  showTab,
} from './users-scene.ts'

/** Brings a page into the state that the screenshot shows. */
type Prepare = (page: Page, world: TestWorld) => Promise<void>

const show =
  (path: string): Prepare =>
  async (page, { consoleUrl }) => {
    await page.goto(consoleUrl + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }

/** Shows a page while the console server does not answer. */
const showUnreachable =
  (path: string): Prepare =>
  async (page, world) => {
    const calls = /\/api\/(?!session)/
    await page.route(calls, (route) => route.abort())
    await show(path)(page, world)
    await page.getByRole('alert').first().waitFor()
    await page.unroute(calls)
  }

const showPalette: Prepare = async (page, world) => {
  await show('/')(page, world)
  await page.getByRole('button', { name: 'Search or run a command' }).click()
  await page.getByRole('combobox').fill('a')
  await page.getByRole('group', { name: 'Rules' }).waitFor()
}

const showShortcuts: Prepare = async (page, world) => {
  await show('/')(page, world)
  await page.getByRole('slider').first().waitFor()
  await page.keyboard.press('?')
  await page.getByRole('region', { name: 'Everywhere' }).waitFor()
}

/** The keys are the names of the screenshots. */
export const scenes: Readonly<Record<string, Prepare>> = {
  overview: showBusyOverview,
  palette: showPalette,
  shortcuts: showShortcuts,
  users: prepareUsers,
  'users-one': prepareOneUser,
  'users-sign-in': showTab('Sign-in'),
  'users-sessions': showTab('Sessions'),
  'users-activity': showTab('Activity'),
  'users-none': showNoUsers,
  'users-create': showDialog(prepareUsers, 'Create user'),
  'users-edit': showDialog(prepareOneUser, 'Edit…'),
  'users-invite': showDialog(prepareUsers, 'Invite user'),
  'users-password': showDialog(prepareOneUser, 'Set password…'),
  'users-link': showDialog(prepareOneUser, 'Generate link…'),
  'users-ban': showDialog(prepareOneUser, 'Ban…'),
  'users-delete': showDialog(prepareOneUser, 'Delete…'),
  'users-failures': showFailures,
  mailbox: showMailbox,
  limits: showLimits,
  'limits-files': showRuleFiles,
  graphql: async (page, world) => {
    await show('/graphql-audits')(page, world)
    const started = page.waitForResponse((answer) => answer.status() === 201)
    await page.getByRole('button', { name: 'Run audits' }).click()
    await started
    await page.getByRole('link', { name: 'Open report' }).waitFor()
  },
  try: showTry,
  'users-unreachable': showUnreachable('/users'),
  'limits-unreachable': showUnreachable('/limits'),
  'graphql-unreachable': showUnreachable('/graphql-audits'),
}
