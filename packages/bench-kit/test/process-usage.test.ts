import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import {
  listProcesses,
  parseStatTicks,
  readCpuTimes,
  readResidentMegabytes,
  toCpuSeconds,
} from '../src/process-usage.ts'

test('CPU ticks are found after a program name with spaces and brackets', () => {
  const line = `7 (a) b (c) S 1 7 7 0 -1 4194304 99 0 0 0 120 34 0 0 20 0 11 0 1181260`
  assert.equal(parseStatTicks(line), 154)
})

test('CPU time is the sum over all threads, including new ones', () => {
  const before = new Map([
    ['1', 100],
    ['2', 50],
  ])
  const after = new Map([
    ['1', 1100],
    ['3', 500],
  ])
  assert.equal(toCpuSeconds(before, after), 1.5)
})

test('the CPU time of a busy process grows', async () => {
  const before = await readCpuTimes(process.pid)
  const end = performance.now() + 50
  while (performance.now() < end);
  assert.ok(toCpuSeconds(before, await readCpuTimes(process.pid)) > 0)
})

test('a process that does not exist is reported by its id', async () => {
  await assert.rejects(readCpuTimes(2 ** 30), /CPU time of process 1073741824 cannot be read/)
})

test('the CPU time of a process includes its child processes', async (t) => {
  const code = 'const end = performance.now() + 60_000; while (performance.now() < end);'
  const before = await readCpuTimes(process.pid)
  const child = spawn(process.execPath, ['-e', code])
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const pid = `${child.pid}`
  const readChild = async () => (await readCpuTimes(process.pid)).get(pid) ?? 0
  while ((await readChild()) < 20);
  assert.ok(!before.has(pid))
  assert.ok((await listProcesses(process.pid)).includes(Number(pid)))
})

test('resident memory is returned in megabytes', async () => {
  const megabytes = await readResidentMegabytes(process.pid)
  assert.ok(megabytes > 10 && megabytes < 4_096, `${megabytes} MB`)
})
