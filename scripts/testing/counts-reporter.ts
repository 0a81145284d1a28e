// A reporter for `node --test` whose whole output is one line of JSON: how many tests passed,
// failed and were skipped, and in which files some failed.

import type { TestEvent } from 'node:test/reporters'

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failedFiles: readonly string[]
}

export async function* counts(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failedFiles = new Set<string>()
  for await (const event of source) {
    if (event.type === 'test:fail' && event.data.file) failedFiles.add(event.data.file)
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue
    const { tests, passed, skipped, todo } = event.data.counts
    // What neither passed nor was left out failed: by an assertion, a crash or the time limit.
    const failed = tests - passed - skipped - todo
    const result: Counts = {
      passed,
      failed,
      skipped: skipped + todo,
      failedFiles: [...failedFiles],
    }
    yield JSON.stringify(result)
  }
}

// biome-ignore lint/style/noDefaultExport: this is how `node --test` finds a reporter
export default counts
