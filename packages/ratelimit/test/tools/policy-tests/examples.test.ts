import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { policyTests } from '../../../src/commands/policy-tests.ts'

test('the example rules pass their policy tests', async () => {
  const directory = join(import.meta.dirname, '../../../../../examples/ratelimit/config')
  const written: string[] = []
  const output = { write: (text: string) => written.push(text) }
  const io = { stdout: output, stderr: output, env: {}, isTerminal: false }
  const code = await policyTests.run([directory], io)
  assert.equal(code, 0, written.join(''))
  assert.match(written.join(''), /\n13 tests passed, 3 files with \d+ requests\n$/)
})
