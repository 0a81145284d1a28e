import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { listProcesses } from '../src/processes.ts'

test('a running process is listed with its parent and its arguments', async () => {
  const child = spawn('sleep', ['3600'])
  await once(child, 'spawn')
  const find = () => listProcesses().find(({ pid }) => pid === child.pid)
  assert.deepEqual(find(), { pid: child.pid, parent: process.pid, command: 'sleep 3600' })
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(find(), undefined)
})
