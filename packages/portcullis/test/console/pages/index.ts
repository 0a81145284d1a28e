import { testShell } from './shell.ts'
import type { RunSuite } from './suite.ts'

/** One file per page. */
export const suites: Readonly<Record<string, RunSuite>> = {
  shell: testShell,
}
