import type { TestEvent } from 'node:test/reporters'

/**
 * Ends the process at the first failing test: the mutant is killed then, and later tests would
 * often wait for something that never happens. At the end it writes how many tests passed.
 */
// oxlint-disable-next-line import/no-default-export -- `node --test-reporter` requires one.
export default async function* reportFirstFailure(events: AsyncIterable<TestEvent>) {
  let passed = 0
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.todo === undefined) {
      process.stdout.write(`failed: ${data.name}\n${data.details.error.cause ?? ''}\n`)
      process.exit(1)
    }
    // A suite also passes if all its tests are skipped.
    if (type === 'test:pass' && data.skip === undefined && data.details.type !== 'suite') passed++
  }
  yield `passed: ${passed}\n`
}
