import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { planReload, type SourcedConfig } from '../../src/reloading/reload-plan.ts'
import { testEnvironment } from '../support/auth-server.ts'

const required = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth' }

function read(...sources: Readonly<Record<string, string>>[]): SourcedConfig {
  const all = [...sources, required]
  const { config, faults } = parseConfig(...all)
  assert.deepEqual(faults, [])
  return { config, sources: all }
}

test('the variables of reloading have the names, formats and defaults of GoTrue', () => {
  const { reloading } = read().config
  assert.deepEqual(reloading, {
    notifyEnabled: true,
    pollerEnabled: false,
    pollerIntervalMs: 10_000,
    signal: undefined,
    gracePeriodMs: 5_000,
  })
  const set = read({
    GOTRUE_RELOADING_NOTIFY_ENABLED: 'false',
    GOTRUE_RELOADING_POLLERENABLED: 'true',
    GOTRUE_RELOADING_POLLER_INTERVAL: '1m',
    GOTRUE_RELOADING_SIGNAL_ENABLED: 'true',
    GOTRUE_RELOADING_SIGNAL_NUMBER: `${constants.signals.SIGUSR2}`,
    GOTRUE_RELOADING_GRACE_PERIOD_INTERVAL: '250ms',
  })
  assert.deepEqual(set.config.reloading, {
    notifyEnabled: false,
    pollerEnabled: true,
    pollerIntervalMs: 60_000,
    signal: 'SIGUSR2',
    gracePeriodMs: 250,
  })
  assert.equal(read({ AUTH_RELOADING_POLLER_ENABLED: 'true' }).config.reloading.pollerEnabled, true)
})

test('all faults of reloading are reported at once', () => {
  const { faults } = parseConfig({
    ...required,
    AUTH_RELOADING_POLLER_INTERVAL: '1ms',
    AUTH_RELOADING_SIGNAL_ENABLED: 'true',
    AUTH_RELOADING_SIGNAL_NUMBER: `${constants.signals.SIGKILL}`,
    AUTH_RELOADING_GRACE_PERIOD_INTERVAL: '2h',
  })
  assert.deepEqual(faults.map(({ variable }) => variable).toSorted(), [
    'AUTH_RELOADING_GRACE_PERIOD_INTERVAL',
    'AUTH_RELOADING_POLLER_INTERVAL',
    'AUTH_RELOADING_SIGNAL_NUMBER',
  ])
  assert.match(
    faults.find(({ variable }) => variable.endsWith('NUMBER'))?.message ?? '',
    /such as \d+ \(SIGUSR1\) or \d+ \(SIGUSR2\)$/,
  )
  const unused = { ...required, AUTH_RELOADING_SIGNAL_NUMBER: '9' }
  assert.deepEqual(parseConfig(unused).faults, [], 'the number is not used')
})

test('a plan names the changed variables as they are set', () => {
  const before = read({ GOTRUE_MAILER_OTP_EXP: '60', AUTH_JWT_EXP: '600' })
  const plan = planReload(before, before, read({ GOTRUE_MAILER_OTP_EXP: '90' }))
  assert.equal(plan.hasChanged, true)
  assert.deepEqual(plan.changed.toSorted(), ['AUTH_JWT_EXP', 'GOTRUE_MAILER_OTP_EXP'])
  assert.deepEqual(plan.needRestart, [])
  assert.equal(plan.config.mail.otpExpiresInSeconds, 90)
})

test('a changed key file is found, although its variable has not changed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'key-file-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'key')
  const env = { AUTH_SECRETS_KEY: '', AUTH_SECRETS_KEY_FILE: file }
  writeFileSync(file, 'first'.repeat(8))
  const before = read(env)
  writeFileSync(file, `${'second'.repeat(8)}\n${'first'.repeat(8)}`)
  const plan = planReload(before, before, read(env))
  assert.deepEqual([plan.hasChanged, plan.changed], [true, ['AUTH_SECRETS_KEY_FILE']])
  assert.equal(plan.config.secrets.encryption, 'second'.repeat(8))
})

test('a plan without changes says so, even if a value is written differently', () => {
  // A GOTRUE_ name would otherwise change the mode.
  const mode = { AUTH_COMPAT_MODE: 'auto' }
  const before = read({ ...mode, AUTH_SESSIONS_TIMEBOX: '1h' })
  const plan = planReload(before, before, read({ ...mode, GOTRUE_SESSIONS_TIMEBOX: '60m' }))
  assert.deepEqual([plan.hasChanged, plan.changed, plan.needRestart], [false, [], []])
})

test('settings of the process keep their running value and are named', () => {
  const started = read({})
  const changed = {
    AUTH_API_PORT: '9999',
    DATABASE_URL: 'postgres://other.example/auth',
    AUTH_DB_MAX_POOL_SIZE: '7',
    AUTH_WORKERS: '3',
    AUTH_LOG_LEVEL: 'debug',
    AUTH_RATE_LIMIT_SERVICE_URL: 'redis://redis.example',
    AUTH_RELOADING_GRACE_PERIOD_INTERVAL: '1s',
    AUTH_PROFILER_ENABLED: 'true',
    AUTH_RATE_LIMIT_OTP: '5',
  }
  const plan = planReload(started, started, read(changed))
  const { AUTH_RATE_LIMIT_OTP: _reloaded, ...restart } = changed
  assert.deepEqual(plan.needRestart.toSorted(), Object.keys(restart).toSorted())
  assert.deepEqual(plan.changed, ['AUTH_RATE_LIMIT_OTP'])
  assert.equal(plan.config.limits.otp, 5)
  assert.deepEqual(
    { ...plan.config, limits: started.config.limits, effective: started.config.effective },
    started.config,
    'everything else is unchanged',
  )
  const { effective } = plan.config
  const differing = effective.filter((setting, at) => setting !== started.config.effective[at])
  const changedValues = differing.filter(({ source }) => source === 'environment')
  const values = Object.fromEntries(changedValues.map(({ name, value }) => [name, value]))
  assert.equal(values['AUTH_RATE_LIMIT_OTP'], '5')
  for (const name of Object.keys(restart)) assert.ok(!(name in values), name)
  const later = planReload(
    started,
    { config: plan.config, sources: [changed, required] },
    read(changed),
  )
  assert.equal(later.hasChanged, false)
  assert.deepEqual(later.needRestart, plan.needRestart, 'the restart is still pending')
})
