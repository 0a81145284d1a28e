/**
 * @servers postgres, postgres-embedded, pgbouncer, prometheus, redis, redis-cluster, redis-sentinel, memcached, chromium, envoy
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { open, type ServerName, servers } from '../src/index.ts'
import { waitFor } from '../src/wait-for.ts'
import { ping } from './support/pings.ts'
import { descendantsOf, stillRunning } from './support/processes.ts'
import { isListening } from './support/sockets.ts'

/** Every port in an opened server, at any depth. */
function portsOf(value: unknown): number[] {
  if (Array.isArray(value)) return value.flatMap(portsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'port' && typeof inner === 'number' ? [inner] : key === 'browser' ? [] : portsOf(inner),
  )
}

const names = Object.keys(servers).filter((name): name is ServerName => name in servers)

for (const name of names) {
  test(`${name}: two at once respond on separate ports and leave nothing behind`, async (t) => {
    const [first, second] = await Promise.all([open(t, name), open(t, name)])
    if (!first || !second) return
    await ping(name, first)
    await ping(name, second)
    const ports = [...new Set(portsOf(first)), ...new Set(portsOf(second))]
    assert.equal(new Set(ports).size, ports.length, `shared ports: ${ports}`)
    assert.notEqual(first.folder, second.folder)
    const pids = descendantsOf(process.pid)

    await first.stop()
    assert.ok(!existsSync(first.folder), 'the folder is gone')
    for (const port of new Set(portsOf(first))) assert.ok(!(await isListening(port)), `${port}`)
    await ping(name, second)
    await second.stop()
    await second.stop()
    await waitFor('not every process ended', async () => stillRunning(pids).length === 0, 15_000)
  })

  test(`${name}: a test process that is killed leaves nothing behind`, async (t) => {
    const temporary = await mkdtemp(join(tmpdir(), 'portcullis-killed-'))
    t.after(() => rm(temporary, { recursive: true }))
    const script = join(import.meta.dirname, 'support/hold-server.ts')
    const holder = spawn(process.execPath, [script, name], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => holder.kill('SIGKILL'))
    const [line] = await once(holder.stdout, 'data')
    const { folder, missing, isOptional } = JSON.parse(`${line}`)
    const mustBeThere = process.env.CI === 'true' && !isOptional
    if (missing) return mustBeThere ? assert.fail(missing) : t.skip(missing)
    assert.ok(existsSync(folder))
    const pids = descendantsOf(holder.pid ?? 0)
    assert.ok(pids.length >= 2, `a server and its guard, but found ${pids}`)

    holder.kill('SIGKILL')
    await waitFor('not every process ended', async () => stillRunning(pids).length === 0, 15_000)
    await waitFor('the folder is still there', async () => !existsSync(folder), 15_000)
    await waitFor('something is left', async () => readdirSync(temporary).length === 0, 15_000)
  })
}
