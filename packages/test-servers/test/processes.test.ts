import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { listProcesses } from '../src/processes.ts'

test('a running process is listed with its parent and its arguments', async () => {
  const child = spawn('cat', ['-'])
  // The arguments of a process are visible only a moment after it has been spawned.
  child.stdin.write('started')
  await once(child.stdout, 'data')
  const find = () => listProcesses().find(({ pid }) => pid === child.pid)
  assert.deepEqual(find(), { pid: child.pid, parent: process.pid, command: 'cat -' })
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(find(), undefined)
})
