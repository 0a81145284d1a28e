/**
 * @legs safety, endurance
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { enduranceOr } from '@portcullis/test-servers/endurance'

const run = promisify(execFile)
const script = fileURLToPath(new URL('./support/client-load.ts', import.meta.url))
const REQUESTS = enduranceOr(1_000_000, 200_000)
// Two bytes for each of a million requests, ten for each of 200,000: less than a leak of any object
// at all, and more than the heap varies between two collections.
const LIMIT_BYTES = 2_000_000

async function load(requests: number, leaked = 0) {
  const { stdout } = await run(process.execPath, [
    '--expose-gc',
    script,
    String(requests),
    String(leaked),
  ])
  return JSON.parse(stdout)
}

test(`${REQUESTS} requests leave nothing in the client and no listener on a shared signal`, async (t) => {
  const { sent, grownBytes, listeners, maxListeners } = await load(REQUESTS)
  t.diagnostic(`${sent} fetches, heap grown by ${grownBytes} bytes`)
  assert.ok(sent >= REQUESTS)
  assert.ok(grownBytes < LIMIT_BYTES, `heap grew by ${grownBytes} bytes`)
  assert.equal(listeners, 0)
  // While requests run, each has its own listener, which shows that the check above could have
  // failed.
  assert.ok(maxListeners > 0)
})

test('requests that never settle are detected by this measurement', async () => {
  const { grownBytes } = await load(0, 10_000)
  assert.ok(grownBytes > LIMIT_BYTES, `heap grew by ${grownBytes} bytes only`)
})
