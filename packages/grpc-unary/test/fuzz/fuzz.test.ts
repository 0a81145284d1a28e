/**
 * @legs safety, endurance
 * @isolated measures the heap of its process
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { fuzz } from '../../fuzz/run.ts'

// A few seconds of what fuzz/main.ts does without end, with the same inputs in every run.
const SEED = 20_231_010

const frameInputs = enduranceOr(1 << 20, 10_240)
const hpackInputs = enduranceOr(1 << 22, 32_768)

test('mutated sessions never break a connection, its responses, or the next client', async () => {
  assert.equal(await fuzz('frames', { seed: SEED, inputs: frameInputs }), frameInputs)
})

test('header blocks of an independent encoder are decoded correctly', async () => {
  assert.equal(await fuzz('hpack', { seed: SEED, inputs: hpackInputs }), hpackInputs)
})

test('the command prints its usage and refuses unknown options', async () => {
  const main = join(import.meta.dirname, '../../fuzz/main.ts')
  const run = promisify(execFile)
  const help = await run(process.execPath, [main, '--help'])
  assert.match(help.stdout, /--inputs N/)
  await assert.rejects(run(process.execPath, [main, '--inputs', 'many']), (error) => {
    assert.ok(error instanceof Error && 'code' in error && 'stderr' in error)
    assert.equal(error.code, 2)
    assert.match(String(error.stderr), /--inputs must be a number from 0, not "many"\./)
    return true
  })
  const short = await run(process.execPath, [main, '--inputs', '300', '--seed', '7'])
  assert.match(short.stdout, /frames: 300 inputs without a fault/)
  assert.match(short.stdout, /hpack: 300 inputs without a fault/)
})
