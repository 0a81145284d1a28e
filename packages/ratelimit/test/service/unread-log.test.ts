import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import { programEnvironment } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { testEnvironment, until } from '../support/service-process.ts'
import { makeRules } from '../support/service-rules.ts'

const program = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'

/** A service whose log is read only by the test. */
async function startWithPipe(t: TestContext) {
  const directory = await makeRules(t, rules)
  const path = join(directory.path, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  t.after(() => closeSync(reader))
  const child = spawn(process.execPath, [program, 'serve', '--rules', directory.path], {
    env: { ...programEnvironment, ...testEnvironment, LOG_LEVEL: 'debug' },
    stdio: ['ignore', 'ignore', writer],
  })
  closeSync(writer)
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const buffer = Buffer.alloc(1 << 20)
  const read = () => {
    try {
      return buffer.toString('utf8', 0, readSync(reader, buffer))
    } catch {
      // The pipe is empty at the moment.
      return ''
    }
  }
  return { child, ended, read, rules: directory }
}

test('a service whose log is not read keeps making decisions, and can be stopped', async (t) => {
  const { child, ended, read, rules: directory } = await startWithPipe(t)
  let log = ''
  await until(
    () => {
      log += read()
      return log.includes('Listening for HTTP')
    },
    () => `the service listens: ${log}`,
  )
  const grpcAddress = /Listening for gRPC on '([^']+)'/.exec(log)?.[1] ?? ''
  const client = await openDecisionClient(t, { grpcAddress })
  // Each load logs every rule, which fills the pipe many times over.
  const lines = Array.from(
    { length: 3_000 },
    (_, i) => `  - { key: k${i}, rate_limit: { unit: day, requests_per_unit: 9 } }\n`,
  )
  for (let load = 1; load <= 3; load += 1) {
    await directory.replace(`domain: d${load}\ndescriptors:\n${lines.join('')}`)
    await until(
      async () => {
        const { statuses } = await client.decide(requestFor(`d${load}`, descriptor(`k${load}=v`)))
        return statuses[0]?.currentLimit !== undefined
      },
      () => `load ${load} is in force`,
    )
  }
  child.kill('SIGTERM')
  const [code] = await ended
  assert.equal(code, 0)
})
