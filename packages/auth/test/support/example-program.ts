import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { findFreePort, programEnvironment } from '@portcullis/test-servers'

const folder = join(import.meta.dirname, '../../../../examples')

export type ExampleEnv = Readonly<Record<string, string>>

/** Starts a program of `examples/` as a process that ends with the test. */
export function launchExample(
  t: TestContext,
  file: string,
  env: ExampleEnv,
  args: readonly string[] = [],
): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, [join(folder, file), ...args], {
    env: { ...programEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

/** Starts a server of `examples/`, waits until it listens, and returns its URL. */
export async function startExample(t: TestContext, file: string, env: ExampleEnv): Promise<string> {
  const port = env['PORT'] ?? `${await findFreePort()}`
  const child = launchExample(t, file, { ...env, PORT: port })
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  assert.match(line, /^Listening on/)
  return `http://localhost:${port}`
}
