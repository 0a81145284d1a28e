import type { TestEvent } from 'node:test/reporters'

/**
 * Ends the process at the first test that fails: a mutant is killed then, and the tests behind it would
 * often wait for something that never comes. At the end it writes how many tests passed.
 */
// biome-ignore lint/style/noDefaultExport: `node --test-reporter` asks for one.
export default async function* reportFirstFailure(events: AsyncIterable<TestEvent>) {
  let passed = 0
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.todo === undefined) {
      process.stdout.write(`failed: ${data.name}\n${data.details.error.cause ?? ''}\n`)
      process.exit(1)
    }
    // A suite passes too when all its tests are skipped.
    if (type === 'test:pass' && data.skip === undefined && data.details.type !== 'suite') passed++
  }
  yield `passed: ${passed}\n`
}
