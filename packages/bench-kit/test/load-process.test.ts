import assert from 'node:assert/strict'
import test from 'node:test'
import { startChild } from '../src/child.ts'
import { runLoad } from '../src/load-process.ts'

const module = new URL('./support/echo-load.ts', import.meta.url)

test('a job is run between two measurements of the CPU time, and closed', async () => {
  using load = startChild(module, { args: ['a', 'b'], env: { MODE: 'test' } })
  await assert.rejects(load.request('run'), /No job was given before "run"/)
  const first = await runLoad(load, { text: 'first' })
  const rest = { args: ['a', 'b'], mode: 'test' }
  assert.deepEqual(first, { outcome: { text: 'first', closed: 0, ...rest }, cpuSeconds: [] })
  const { outcome, cpuSeconds } = await runLoad(load, { text: 'next' }, [process.pid])
  assert.deepEqual(outcome, { text: 'next', closed: 1, ...rest })
  assert.equal(cpuSeconds.length, 1)
  assert.ok((cpuSeconds[0] ?? -1) >= 0)
})

test('failures, the exit and the silence of a child are errors in the parent', async () => {
  using load = startChild(module)
  await assert.rejects(load.request({ text: 'refuse' }), /^Error: connection refused$/)
  await assert.rejects(load.request({ text: 'end' }), /echo-load\.ts" exited with code 3/)
  using impatient = startChild(module, { replyTimeoutSeconds: 0.2 })
  await assert.rejects(
    impatient.request({ text: 'silence' }),
    /echo-load\.ts" did not reply within 0\.2 s/,
  )
})
