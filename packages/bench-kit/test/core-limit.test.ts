import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { limitCores } from '../src/core-limit.ts'

/** Whether this machine has groups of processes, and this user may create some. */
function canLimit(): boolean {
  try {
    accessSync('/sys/fs/cgroup/cpu', constants.W_OK)
    return true
  } catch {
    return false
  }
}

test('a process is limited to a part of a core, or the error says what is needed', async (t) => {
  const child = spawn('sleep', ['600'])
  const exit = once(child, 'exit')
  t.after(() => child.kill())
  const pid = child.pid ?? 0
  if (!canLimit()) {
    await assert.rejects(limitCores(pid, 0.2), /CPU time cannot be limited: .+needs root/)
    return
  }
  const limit = await limitCores(pid, 0.2)
  const folder = `/sys/fs/cgroup/cpu/portcullis-bench-${pid}`
  assert.match(readFileSync(`/proc/${pid}/cgroup`, 'utf8'), new RegExp(`portcullis-bench-${pid}`))
  assert.equal(readFileSync(`${folder}/cpu.cfs_quota_us`, 'utf8').trim(), '2000')
  child.kill()
  await exit
  await limit.remove()
  assert.equal(existsSync(folder), false)
})
