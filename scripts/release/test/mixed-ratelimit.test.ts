/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findFreePort, open, programEnvironment } from '@portcullis/test-servers'
import {
  packRelease,
  previousCommit,
} from '../../../packages/auth/test/support/previous-release/pack.ts'
import { root } from '../../packaging/published-packages.ts'

const rules = `
domain: api
descriptors:
  - key: fixed
    rate_limit: { unit: year, requests_per_unit: 10 }
  - key: sliding
    rate_limit: { unit: year, requests_per_unit: 10, algorithm: sliding_window }
`

test('rate limit services of this and of the previous release count together in one Redis', async (t) => {
  await using release = await packRelease()
  if (release === undefined) {
    return t.skip(`the previous release (${previousCommit}) is not in the history of this checkout`)
  }
  const redis = await open(t, 'redis')
  if (!redis) return
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-mixed-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'api.yaml'), rules)
  const env = { KVSTORE_URL: `127.0.0.1:${redis.port}` }
  const start = (checkout: string) => startService(t, checkout, folder, env)

  const urls = await Promise.all([start(release.folder), start(root), start(release.folder)])
  for (const key of ['fixed', 'sliding']) {
    const statuses: number[] = []
    for (let call = 0; call < 5; call++) {
      for (const url of urls) statuses.push(await decide(url, key))
    }
    assert.deepEqual(
      statuses,
      [...Array(10).fill(200), ...Array(5).fill(429)],
      `${key}: the limit holds across releases`,
    )
  }
})

async function decide(url: string, key: string): Promise<number> {
  const descriptors = [{ entries: [{ key, value: 'a_b' }] }]
  const body = JSON.stringify({ domain: 'api', descriptors })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(`${url}/json`, { method: 'POST', headers, body })).status
}

async function startService(
  t: TestContext,
  checkout: string,
  folder: string,
  own: Readonly<Record<string, string>>,
): Promise<string> {
  const [http, grpc, debug] = await Promise.all([findFreePort(), findFreePort(), findFreePort()])
  const env = {
    ...programEnvironment,
    ...own,
    // With this setting, the counters of both releases have the same names.
    CACHE_KEY_FORMAT: 'compatible',
    PORT: `${http}`,
    GRPC_PORT: `${grpc}`,
    DEBUG_PORT: `${debug}`,
    DISABLE_STATS: 'true',
    WORKERS: '1',
    DRAIN_DELAY: '0s',
  }
  const main = join(checkout, 'packages/ratelimit/src/main.ts')
  const child = spawn(process.execPath, [main, 'serve', '--rules', folder], {
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  t.after(async () => {
    child.kill('SIGTERM')
    await closed
  })
  let output = ''
  await new Promise<void>((done, fail) => {
    const read = (chunk: string) => {
      output += chunk
      if (output.includes('Listening for HTTP on')) done()
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.on('close', () => fail(new Error(`The service ended: ${output}`)))
  })
  return `http://127.0.0.1:${http}`
}
