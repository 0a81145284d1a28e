import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openMigratedEnvironment, type StartedAuth, startAuth } from './auth-program.ts'
import { newEmail, password, send } from './http-client.ts'
import { until } from './outbox.ts'

type Env = Readonly<Record<string, string>>

export interface ReloadableServer extends StartedAuth {
  readonly env: Env
  /** Replaces the configuration file, as editors do. */
  write(variables: Env): void
  /** Waits for a line of the log that was not returned before. */
  untilLogged(pattern: RegExp): Promise<string>
}

/** Starts the program with a configuration file whose variables the environment does not set. */
export async function startReloadable(
  t: TestContext,
  inFile: Env,
  inEnvironment: Env = {},
): Promise<ReloadableServer | undefined> {
  const env = await openMigratedEnvironment(t)
  if (!env) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'auth-reload-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'auth.env')
  const write = (variables: Env): void => {
    const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(`${file}.new`, lines.join(''))
    renameSync(`${file}.new`, file)
  }
  write(inFile)
  const names = Object.keys(inFile)
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
  const server = await startAuth(t, ['up', '--config', file], {
    ...rest,
    AUTH_RELOADING_GRACE_PERIOD_INTERVAL: '20ms',
    ...inEnvironment,
  })
  let read = server.output().length
  return {
    ...server,
    env,
    write,
    async untilLogged(pattern) {
      let line: string | undefined
      await until(() => {
        line = server
          .output()
          .slice(read)
          .split('\n')
          .find((each) => pattern.test(each))
        return line !== undefined
      })
      read = server.output().length
      return line ?? ''
    },
  }
}

export const signup = (url: string) =>
  send(url, '/signup', { body: { email: newEmail(), password } })
