/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { command, listEndless } from './support/redis-client.ts'
import { windowOf } from './support/store.ts'

const processes = 3
const callsEach = 4_000
const script = new URL('./support/count-shared.ts', import.meta.url).pathname

test('several processes on one Redis see every count of a counter exactly once', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const window = windowOf(86_400)
  const seen = await Promise.all(
    Array.from({ length: processes }, async () => {
      const url = `127.0.0.1:${redis.port}`
      const child = spawn(process.execPath, [script, url, `${callsEach}`, `${window}`])
      t.after(() => child.kill('SIGKILL'))
      const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr)])
      assert.equal(complaints, '')
      return JSON.parse(output) as Record<string, number[]>
    }),
  )
  const keys = Object.keys(seen[0] ?? {})
  assert.ok(keys.length >= 3)
  let total = 0
  for (const key of keys) {
    const counts = seen.flatMap((own) => own[key] ?? []).sort((a, b) => a - b)
    // So for any limit, exactly that many calls received a count up to it.
    assert.deepEqual(
      counts,
      counts.map((_, i) => i + 1),
    )
    assert.equal(await command(redis, 'GET', `${key}${window}`), `${counts.length}`)
    total += counts.length
  }
  assert.equal(total, processes * callsEach)
  assert.deepEqual(await listEndless(redis), [])
})
