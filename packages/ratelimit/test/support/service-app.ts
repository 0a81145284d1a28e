import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { openLifecycle } from '@portcullis/service-kit/process/lifecycle'
import { openApp } from '../../src/app/app.ts'
import { parseConfig } from '../../src/config/config.ts'
import { collectLog } from './collected-log.ts'
import { fromNoon } from './noon-clock.ts'
import { type ServiceOptions, toServiceEnvironment } from './service-process.ts'
import { makeRules, type RuleDirectory } from './service-rules.ts'

export interface AppOptions extends ServiceOptions {
  /** Milliseconds since the epoch; default: a clock that starts at noon. */
  readonly now?: () => number
}

/** The whole service inside the process of the test, with real listeners. */
export interface TestApp {
  readonly grpcAddress: string
  readonly httpUrl: string
  readonly debugUrl: string
  readonly rules: RuleDirectory
  /** The log lines, as `level message`. */
  readonly log: readonly string[]
  stop(): Promise<number>
}

/** Opens the service for tests that do not need a separate process, which would only take longer to start. */
export async function openService(t: TestContext, options: AppOptions = {}): Promise<TestApp> {
  const { env = {}, rules = {}, now = fromNoon } = options
  const directory = await makeRules(t, rules)
  const { config, faults } = parseConfig({
    RUNTIME_ROOT: directory.path,
    RUNTIME_APPDIRECTORY: '',
    RUNTIME_WATCH_ROOT: 'false',
    ...toServiceEnvironment(env),
  })
  assert.deepEqual(faults, [])
  const { log, lines } = collectLog()
  const deaf = { on: () => {}, off: () => {}, exit: () => {} }
  const lifecycle = openLifecycle({ ...config.lifecycle, log, process: deaf })
  const stop = () => {
    lifecycle.stop('SIGTERM')
    return lifecycle.ended
  }
  t.after(stop)
  const app = await openApp({ config, log, lifecycle, now })
  const { grpcAddress } = app
  return {
    grpcAddress: grpcAddress.startsWith('/') ? `unix:${grpcAddress}` : grpcAddress,
    httpUrl: `http://${app.httpAddress}`,
    debugUrl: `http://${app.debugAddress}`,
    rules: directory,
    log: lines,
    stop,
  }
}
