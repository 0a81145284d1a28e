import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const script = join(import.meta.dirname, 'support', 'log-to-fd.ts')

test('nothing is lost when the process exits right after logging', async () => {
  const child = spawn(process.execPath, [script, 'exit at once'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = await text(child.stderr)
  const expected = Array.from({ length: 1_000 }, (_, line) => `line ${line}`)
  assert.deepEqual(log.trimEnd().split('\n').toSorted(), expected.toSorted())
})

test('a log that nobody reads does not stop the process: lines are dropped and counted', async (t) => {
  const child = spawn(process.execPath, [script, 'unread pipe'], { stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  const [said] = await once(child.stdout, 'data')
  assert.equal(String(said), 'still alive\n')
  child.stdin.end('now\n')
  const log = await text(child.stderr)
  const lines = log.trimEnd().split('\n')
  assert.equal(lines[0], 'line 0')
  const dropped = lines.map(
    (line) => /level=warning msg="(\d+) log lines were dropped/.exec(line)?.[1],
  )
  const droppedCount = dropped.reduce((sum, count) => sum + Number(count ?? 0), 0)
  const written = lines.filter((line) => line.startsWith('line ')).length
  const after = lines.filter((line) => line === 'after').length
  assert.ok(droppedCount > 0)
  assert.equal(written + after + droppedCount, 100_001)
})
