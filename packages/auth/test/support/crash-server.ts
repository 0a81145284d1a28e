import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { programEnvironment } from '@portcullis/test-servers'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { packageFolder } from './auth-program.ts'
import { jwtSecret, testEnvironment } from './auth-server.ts'

/** A server in a separate process, so that it can be killed. */
export interface CrashServer {
  readonly url: string
  readonly pid: number
  /** The log output so far. */
  output(): string
  hasEnded(): boolean
  /** Sends SIGKILL and resolves once the process has exited. */
  kill(): Promise<void>
}

/** Limits that are high enough for load tests. */
export const unlimited = {
  AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
  AUTH_RATE_LIMIT_OTP: '1000000',
  AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
  AUTH_RATE_LIMIT_EXTERNAL: '1000000',
  AUTH_RATE_LIMIT_VERIFY: '1000000',
} as const

export const serviceToken = createTokenSigner(
  createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
).sign({ role: 'service_role' })

/** Starts `auth up` and waits until it listens. */
export async function startCrashServer(
  t: TestContext,
  env: Readonly<Record<string, string>>,
): Promise<CrashServer> {
  const child = spawn(process.execPath, [join(packageFolder, 'src/main.ts'), 'up'], {
    cwd: '/',
    env: {
      ...programEnvironment,
      ...testEnvironment,
      ...unlimited,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  t.after(async () => {
    child.kill('SIGTERM')
    await closed
  })
  let output = ''
  const listening = Promise.withResolvers<string>()
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    const [, url] = /Listening on (http:[^\s,]+)/.exec(output) ?? []
    if (url !== undefined) listening.resolve(url)
  })
  child.once('close', () => listening.reject(new Error(`The server ended: ${output}`)))
  return {
    url: await listening.promise,
    pid: child.pid ?? 0,
    output: () => output,
    hasEnded,
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** Resident memory of a process in MB; undefined where the system does not provide it. */
export function readMemoryMb(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return kb === undefined ? undefined : Number(kb) / 1024
}
