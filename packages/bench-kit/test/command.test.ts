import assert from 'node:assert/strict'
import test from 'node:test'
import { createCommand } from '../src/command.ts'
import { parseOptions } from '../src/options.ts'

test('invalid options are reported with a hint to --help, help is printed, and anything else is run', async (t) => {
  const printed = t.mock.method(console, 'log', () => {})
  const complained = t.mock.method(console, 'error', () => {})
  const run = createCommand({
    name: 'speed',
    help: 'Usage: …',
    parse: (args) => ({
      isHelpWanted: parseOptions(args, {}).help,
    }),
    run: async () => 7,
  })
  assert.equal(await run([]), 7)
  assert.equal(await run(['--help']), 0)
  assert.deepEqual(printed.mock.calls[0]?.arguments, ['Usage: …'])
  assert.equal(await run(['--unheard-of']), 2)
  const [complaint] = complained.mock.calls[0]?.arguments ?? []
  assert.match(String(complaint), /--unheard-of[\s\S]*\nSee: npm run bench -- speed --help$/)
})

test('errors other than usage errors are thrown', async () => {
  const run = createCommand({
    name: 'speed',
    help: '',
    parse: () => {
      throw new TypeError('a fault')
    },
    run: async () => 0,
  })
  await assert.rejects(run([]), TypeError)
})
