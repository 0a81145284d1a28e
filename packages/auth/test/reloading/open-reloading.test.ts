import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { parseConfig } from '../../src/config/config.ts'
import { type LoadedConfig, openReloading } from '../../src/reloading/open-reloading.ts'
import type { WatchedFolder } from '../../src/reloading/watch-folders.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { until } from '../support/outbox.ts'

type Env = Readonly<Record<string, string>>

function load(env: Env): LoadedConfig {
  const sources = [{ ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth', ...env }]
  return { ...parseConfig(...sources), sources }
}

/** Opens the reloading of a server that exists only in this test. */
function open(t: TestContext, start: Env = {}, folders: readonly WatchedFolder[] = []) {
  const log: string[] = []
  const write = (level: string) => (message: unknown) => void log.push(`${level}: ${message}`)
  const applied: Config[] = []
  const server = { env: start, failure: undefined as Error | undefined }
  const reloading = openReloading({
    started: load(start),
    load: () => {
      if (server.env['UNREADABLE']) throw new Error('auth.env cannot be read: no such file')
      return load(server.env)
    },
    async apply(config) {
      if (server.failure) throw server.failure
      applied.push(config)
    },
    folders,
    log: { error: write('error'), warning: write('warning'), info: write('info') },
  })
  t.after(() => reloading[Symbol.asyncDispose]())
  return {
    server,
    applied,
    /** Reloads, and returns the new lines of the log. */
    async reload(env: Env): Promise<readonly string[]> {
      server.env = env
      reloading.reload()
      await until(() => log.length > 0)
      await new Promise(setImmediate)
      return log.splice(0)
    },
    log,
    reloading,
  }
}

test('a changed configuration is applied, and the log names what has changed', async (t) => {
  const { reload, applied } = open(t)
  assert.deepEqual(await reload({ AUTH_JWT_EXP: '600' }), [
    'info: Reloaded the configuration; changed: AUTH_JWT_EXP',
  ])
  assert.equal(applied.at(-1)?.tokens.expiresInSeconds, 600)
  assert.deepEqual(await reload({ AUTH_JWT_EXP: '600' }), [
    'info: Reloaded the configuration; no setting has changed',
  ])
  assert.equal(applied.length, 2, 'a signal reloads templates and key files in any case')
})

test('an invalid configuration keeps the previous one, and all faults are logged by name', async (t) => {
  const { reload, applied } = open(t)
  const [line, ...more] = await reload({ AUTH_JWT_EXP: 'soon', AUTH_SMS_MAX_FREQUENCY: 'x' })
  assert.match(line ?? '', /^error: The configuration was not reloaded because it is invalid: /)
  assert.match(line ?? '', /AUTH_JWT_EXP="soon": must be/)
  assert.match(line ?? '', /AUTH_SMS_MAX_FREQUENCY="x": must be/)
  assert.match(line ?? '', /\. The previous configuration stays in effect$/)
  assert.deepEqual([more, applied], [[], []])
  const [unread] = await reload({ UNREADABLE: '1' })
  assert.equal(
    unread,
    'error: The configuration was not reloaded: auth.env cannot be read: no such file. The previous configuration stays in effect',
  )
  await reload({ AUTH_JWT_EXP: '600' })
  assert.equal(applied.length, 1)
})

test('a configuration that the server cannot use is logged, and can be corrected', async (t) => {
  const { reload, applied, server } = open(t)
  server.failure = new Error('the keys cannot be decrypted')
  assert.deepEqual(await reload({ AUTH_JWT_EXP: '600' }), [
    'error: The configuration could not be applied: the keys cannot be decrypted. The previous configuration stays in effect',
  ])
  server.failure = undefined
  assert.deepEqual(await reload({ AUTH_JWT_EXP: '600' }), [
    'info: Reloaded the configuration; changed: AUTH_JWT_EXP',
  ])
  assert.equal(applied.length, 1)
})

test('settings that need a restart are named, and new warnings are logged', async (t) => {
  const { reload, applied } = open(t)
  const lines = await reload({ AUTH_DB_MAX_POOL_SIZE: '3', GOTRUE_NO_SUCH_THING: 'yes' })
  assert.deepEqual(lines, [
    'info: Reloaded the configuration',
    'warning: GOTRUE_NO_SUCH_THING has no effect: this server has no such variable. Remove it, or see docs/auth-migration-behaviours.md',
    'warning: These changed settings take effect after a restart: AUTH_DB_MAX_POOL_SIZE',
  ])
  assert.equal(applied.at(-1)?.database.maxPoolSize, undefined)
})

for (const how of ['notify', 'poller'] as const) {
  test(`changed files are applied once, and the same fault is logged once (${how})`, async (t) => {
    const path = mkdtempSync(join(tmpdir(), 'reloading-'))
    t.after(() => rmSync(path, { recursive: true }))
    const touch = () => writeFileSync(join(path, 'auth.env'), '')
    const start = {
      AUTH_RELOADING_NOTIFY_ENABLED: `${how === 'notify'}`,
      AUTH_RELOADING_POLLER_ENABLED: `${how === 'poller'}`,
      AUTH_RELOADING_POLLER_INTERVAL: '100ms',
      AUTH_RELOADING_GRACE_PERIOD_INTERVAL: '10ms',
    }
    const folders = [{ path, isRelevant: () => true }]
    const { server, applied, log } = open(t, start, folders)
    server.env = { ...start, AUTH_JWT_EXP: '600' }
    touch()
    await until(() => log.length > 0)
    assert.deepEqual(log, ['info: Reloaded the configuration; changed: AUTH_JWT_EXP'])
    server.env = { ...start, AUTH_JWT_EXP: 'x' }
    touch()
    await until(() => log.length > 1)
    touch()
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(log.length, 2, log.join('\n'))
    server.env = { ...start, AUTH_JWT_EXP: '600' }
    touch()
    await until(() => log.length > 2)
    assert.equal(log[2], 'info: The configuration is valid again and has not changed')
    assert.equal(applied.length, 1)
  })
}

test('with AUTH_RELOADING_POLLER_ENABLED, changes are found that the file system does not report', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'reloading-'))
  t.after(() => rmSync(path, { recursive: true }))
  const start = {
    AUTH_RELOADING_POLLER_ENABLED: 'true',
    AUTH_RELOADING_POLLER_INTERVAL: '100ms',
    AUTH_RELOADING_GRACE_PERIOD_INTERVAL: '10ms',
  }
  const { server, log } = open(t, start, [{ path, isRelevant: () => true }])
  // The files are read once after the watch has started.
  await new Promise((resolve) => setTimeout(resolve, 300))
  server.env = { ...start, AUTH_JWT_EXP: '600' }
  await until(() => log.length > 0)
  assert.deepEqual(log, ['info: Reloaded the configuration; changed: AUTH_JWT_EXP'])
})
