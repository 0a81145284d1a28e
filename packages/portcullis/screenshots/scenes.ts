import { editorOf, fillEditor } from '../test/support/editor.ts'
import { accessScenes } from './access-scenes.ts'
import { showEvents, showNoEvents, showOneEvent } from './events-scene.ts'
import {
  showLimitChange,
  showLimits,
  showRuleFiles,
  showRuleHistory,
  showRuleReview,
  showTopKeys,
} from './limits-scenes.ts'
import { showMailbox } from './mailbox-scene.ts'
import { showBusyOverview } from './overview.ts'
import type { Prepare } from './page-states.ts'
import { showSettings } from './settings-scenes.ts'
import { stateScenes } from './state-scenes.ts'
import { showTry } from './try-scene.ts'
import {
  prepareOneUser,
  prepareUsers,
  showDialog,
  showFailures,
  showFilteredUsers,
  showNoUsers,
  showSelectedUsers,
  showTab,
  showUserAccess,
} from './users-scene.ts'

const show =
  (path: string): Prepare =>
  async (page, { consoleUrl }) => {
    await page.goto(consoleUrl + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
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

/** The scenes before send so many queries from this machine that the next one may be over the limit. */
const resetAddress: Prepare = async (page, { consoleUrl }) => {
  await page.request.post(`${consoleUrl}/api/limits/counter/reset`, {
    headers: { 'x-portcullis-console': '1' },
    data: { domain: 'graphql', entries: [{ key: 'address', value: '127.0.0.1' }] },
  })
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
  'users-access': showUserAccess,
  'users-activity': showTab('Activity'),
  'users-none': showNoUsers,
  'users-filters': showFilteredUsers,
  'users-selected': showSelectedUsers,
  'users-view': showDialog(prepareUsers, 'View options…'),
  'users-export': showDialog(prepareUsers, 'Export…'),
  'users-bulk-ban': showDialog(showSelectedUsers, 'Ban…'),
  'users-send': showDialog(prepareOneUser, 'Send email…'),
  'users-impersonate': showDialog(prepareOneUser, 'Impersonate…'),
  'users-create': showDialog(prepareUsers, 'Create user'),
  'users-edit': showDialog(prepareOneUser, 'Edit…'),
  'users-invite': showDialog(prepareUsers, 'Invite user'),
  'users-password': showDialog(prepareOneUser, 'Set password…'),
  'users-link': showDialog(prepareOneUser, 'Generate link…'),
  'users-ban': showDialog(prepareOneUser, 'Ban…'),
  'users-delete': showDialog(prepareOneUser, 'Delete…'),
  'users-failures': showFailures,
  events: showEvents,
  'events-one': showOneEvent,
  'events-none': showNoEvents,
  mailbox: showMailbox,
  limits: showLimits,
  'limits-keys': showTopKeys,
  'limits-change': showLimitChange,
  'limits-history': showRuleHistory,
  'limits-files': showRuleFiles,
  'limits-review': showRuleReview,
  graphql: async (page, world) => {
    await show('/graphql-audits')(page, world)
    const started = page.waitForResponse((answer) => answer.status() === 201)
    await page.getByRole('button', { name: 'Run audits' }).click()
    await started
    await page.getByRole('link', { name: 'Open report' }).waitFor()
  },
  'graphql-query': async (page, world) => {
    await resetAddress(page, world)
    await show('/graphql-audits?view=query')(page, world)
    const query = editorOf(page, 'GraphQL query')
    await query.waitFor()
    await fillEditor(
      query,
      'query Castles($country: String) {\n  castles(country: $country) {\n    name\n    built\n  }\n}\n',
    )
    await fillEditor(editorOf(page, 'Variables as JSON'), '{ "country": "Wales" }')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Status 200').waitFor()
  },
  try: showTry,
  settings: showSettings('Auth', 'AUTH_SITE_URL'),
  'settings-ratelimit': showSettings('Rate limits', 'BACKEND_TYPE'),
  'settings-graphql': showSettings('GraphQL API', '--graphql-port'),
  'settings-providers': showSettings('Providers', 'github'),
  'settings-templates': showSettings('Email templates', 'Confirm Your Signup'),
  ...accessScenes,
  ...stateScenes,
}
