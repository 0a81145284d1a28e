import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runOrSkip } from '../src/open.ts'
import { MissingTerminalError, openTerminal, runOnTerminal } from '../src/terminal.ts'

const env = { PATH: process.env.PATH }

test('a program has a terminal, and its complete output is read', async (t) => {
  const script = 'test -t 1 && test -t 0 && echo yes; seq 1 5000; exit 3'
  const printed = await runOrSkip(t, () => runOnTerminal('sh', ['-c', script], env))
  if (printed === undefined) return
  const lines = printed.split('\r\n')
  assert.equal(lines[0], 'yes')
  assert.deepEqual(
    lines.slice(1, -1),
    Array.from({ length: 5000 }, (_, index) => `${index + 1}`),
  )
})

test('Ctrl-C interrupts the program, and its exit is reported', async (t) => {
  const script = 'trap "exit 7" INT; echo ready; while :; do sleep 0.01; done'
  const terminal = await runOrSkip(t, () => openTerminal('sh', ['-c', script], env))
  if (!terminal) return
  terminal.onOutput((text) => {
    if (text.includes('ready')) terminal.write('\x03')
  })
  assert.deepEqual(await terminal.ended, { code: 7 })
  terminal.kill()
})

test('a program ended by a signal has the exit code of a shell', async (t) => {
  const terminal = await runOrSkip(t, () => openTerminal('sh', ['-c', 'kill -s KILL $$'], env))
  if (!terminal) return
  assert.deepEqual(await terminal.ended, { code: 137 })
})

test('without pseudo-terminals a test is skipped with the command that enables them', async () => {
  const skipped: (string | undefined)[] = []
  const t: Pick<TestContext, 'skip'> = { skip: (reason) => void skipped.push(reason) }
  const fail = () => {
    throw new MissingTerminalError(new Error('forkpty(3) failed.'))
  }
  const runContext = { isCi: false, missesFile: undefined }
  assert.equal(await runOrSkip(t, fail, runContext), undefined)
  assert.deepEqual(skipped, [
    'pseudo-terminals are not available. Enable them: mount -t devpts devpts /dev/pts (forkpty(3) failed.)',
  ])
  await assert.rejects(runOrSkip(t, fail, { isCi: true, missesFile: undefined }), {
    name: 'MissingTerminalError',
  })
})
