import { testAccess } from './access/access.ts'
import { testAccessPrograms } from './access/programs.ts'
import { testAccessibility } from './accessibility.ts'
import { testCharts } from './charts.ts'
import { testCommonTasks } from './common-tasks.ts'
import { testEvents } from './events.ts'
import { testGraphql } from './graphql.ts'
import { testKeyboard } from './keyboard.ts'
import { testLimits } from './limits.ts'
import { testMailbox } from './mailbox.ts'
import { testNarrow } from './narrow.ts'
import { testOverview } from './overview.ts'
import { testPalette } from './palette.ts'
import { testSettings } from './settings.ts'
import { testShell } from './shell.ts'
import type { RunSuite } from './suite.ts'
import { testTry } from './try.ts'
import { testUsers } from './users.ts'
import { testManyUsers } from './users-many.ts'
import { testWholeFlow } from './whole-flow.ts'

/** One file per page. */
export const suites: Readonly<Record<string, RunSuite>> = {
  shell: testShell,
  overview: testOverview,
  charts: testCharts,
  keyboard: testKeyboard,
  palette: testPalette,
  accessibility: testAccessibility,
  narrow: testNarrow,
  mailbox: testMailbox,
  limits: testLimits,
  graphql: testGraphql,
  try: testTry,
  'whole flow': testWholeFlow,
  users: testUsers,
  events: testEvents,
  access: testAccess,
  'access of programs': testAccessPrograms,
  settings: testSettings,
  'many users': testManyUsers,
  'common tasks': testCommonTasks,
}
