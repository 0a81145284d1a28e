// A reporter for `node --test` whose whole output is one line of JSON: how many tests passed,
// failed and were skipped, in which files, and in which processes. It also ends a run that hangs.

import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { startHangWatch } from './hang-watch.ts'
import { isOwnFailure } from './quiet-reporter.ts'

type Failure = Extract<TestEvent, { type: 'test:fail' }>['data']

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** How many tests were skipped, by the reason that they gave. */
  readonly skipReasons: Readonly<Record<string, number>>
  /** The files that contain failed tests: test files, or support files with shared tests. */
  readonly failedFiles: readonly string[]
  /** One line per failed test: where it is, its name and the first line of its error. */
  readonly failures: readonly string[]
  /** The arguments with which `node --test` has to run again to repeat the failed tests. */
  readonly failedProcesses: readonly string[]
}

export async function* counts(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failedFiles = new Set<string>()
  const failedProcesses = new Set<string>()
  const failures: string[] = []
  const skipReasons: Record<string, number> = {}
  const hangWatch = startHangWatch()
  for await (const event of source) {
    hangWatch.note(event)
    if (event.type === 'test:fail') {
      if (event.data.file) failedFiles.add(event.data.file)
      if (isOwnFailure(event.data.details.error)) failures.push(toFailureLine(event.data))
    }
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
      failures,
      failedProcesses: [...failedProcesses],
    }
    yield JSON.stringify(result)
  }
  hangWatch.stop()
}

function toFailureLine({ file = '', line, name, details }: Failure): string {
  const reason: unknown = details.error.cause ?? details.error
  const [message = ''] = toMessage(reason).trim().split('\n')
  return `${relative(process.cwd(), file)}:${line ?? ''} › ${name}: ${message}`
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
