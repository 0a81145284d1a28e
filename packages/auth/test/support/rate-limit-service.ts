import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { TestContext } from 'node:test'
import { programEnvironment } from '@portcullis/test-servers'

export interface RateLimitService {
  /** `host:port` */
  readonly address: string
  kill(): Promise<void>
  /** Restarts the service on the same port; the counts are lost. */
  restart(): Promise<void>
}

const program = join(import.meta.dirname, '../../../ratelimit/src/main.ts')

/** Starts our rate limit service as a process, with one rule file. */
export async function openRateLimitService(
  t: TestContext,
  rules: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RateLimitService> {
  const folder = await mkdtemp(join(tmpdir(), 'auth-limits-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'rules.yaml'), rules)
  let running = await start(folder, '0', env)
  t.after(() => running.kill())
  const { address } = running
  return {
    address,
    kill: () => running.kill(),
    async restart() {
      await running.kill()
      running = await start(folder, address.split(':')[1] ?? '', env)
    },
  }
}

async function start(folder: string, port: string, env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [program, 'serve', '--rules', folder], {
    cwd: '/',
    env: {
      ...programEnvironment,
      GRPC_HOST: '127.0.0.1',
      GRPC_PORT: port,
      HOST: '127.0.0.1',
      PORT: '0',
      DEBUG_HOST: '127.0.0.1',
      DEBUG_PORT: '0',
      DISABLE_STATS: 'true',
      WORKERS: '1',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  let log = ''
  const address = await new Promise<string>((done, fail) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      // The HTTP listener opens last.
      const [, found] = /Listening for gRPC on '([^']+)'[\s\S]*Listening for HTTP/.exec(log) ?? []
      if (found !== undefined) done(found)
    })
    child.on('close', () => fail(new Error(`The rate limit service ended: ${log}`)))
  })
  return {
    address,
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}
