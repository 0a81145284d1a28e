// A reporter for `node --test` whose whole output is one line of JSON: how many tests passed,
// failed and were skipped, in which files, and in which processes. It also ends a run that hangs.

import type { TestEvent } from 'node:test/reporters'
import { startHangWatch } from './hang-watch.ts'

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** How many tests were skipped, by the reason that they gave. */
  readonly skipReasons: Readonly<Record<string, number>>
  /** The files that contain failed tests: test files, or support files with shared tests. */
  readonly failedFiles: readonly string[]
  /** The arguments with which `node --test` has to run again to repeat the failed tests. */
  readonly failedProcesses: readonly string[]
}

export async function* counts(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failedFiles = new Set<string>()
  const failedProcesses = new Set<string>()
  const skipReasons: Record<string, number> = {}
  const hangWatch = startHangWatch()
  for await (const event of source) {
    hangWatch.note(event)
    if (event.type === 'test:fail' && event.data.file) failedFiles.add(event.data.file)
    const reason = toSkipReason(event)
    if (reason !== undefined) skipReasons[reason] = (skipReasons[reason] ?? 0) + 1
    if (event.type !== 'test:summary') continue
    if (event.data.file !== undefined) {
      if (!event.data.success) failedProcesses.add(event.data.file)
      continue
    }
    const { tests, passed, skipped, todo } = event.data.counts
    // A test that neither passed nor was skipped has failed: by an assertion, a crash or a hang.
    const failed = tests - passed - skipped - todo
    const result: Counts = {
      passed,
      failed,
      skipped: skipped + todo,
      skipReasons,
      failedFiles: [...failedFiles],
      failedProcesses: [...failedProcesses],
    }
    yield JSON.stringify(result)
  }
  hangWatch.stop()
}

function toSkipReason(event: TestEvent): string | undefined {
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return undefined
  const { skip, todo } = event.data
  const reason = skip ?? todo
  if (reason === undefined || reason === false) return undefined
  return typeof reason === 'string' && reason !== '' ? reason : 'no reason given'
}

// oxlint-disable-next-line import/no-default-export -- this is how `node --test` finds a reporter
export default counts
