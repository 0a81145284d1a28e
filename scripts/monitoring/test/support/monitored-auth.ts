import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '@portcullis/test-servers'
import {
  openProgramEnvironment,
  startAuth,
} from '../../../../packages/auth/test/support/auth-program.ts'
import { newEmail, password, send } from '../../../../packages/auth/test/support/http-client.ts'

export interface MonitoredAuth {
  /** host:port of the page for Prometheus. */
  readonly target: string
  /** Lets every further sign-in fail with 500, because a hook returns an invalid response. */
  breakSignIns(): void
}

/**
 * An auth server that users sign in to until the test ends. Its mail server is unavailable, and its limits are so
 * low that some requests are refused. Undefined if PostgreSQL is missing.
 */
export async function openBusyAuth(t: TestContext): Promise<MonitoredAuth | undefined> {
  const env = await openProgramEnvironment(t)
  if (!env) return undefined
  const load = createLoad()
  // This is registered first, so that the load stops before the server does.
  t.after(load.stop)
  const hook = await openHook(t)
  const port = await findFreePort()
  const { url } = await startAuth(t, ['up'], {
    ...env,
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'prometheus',
    AUTH_OTEL_EXPORTER_PULL_HOST: '127.0.0.1',
    AUTH_OTEL_EXPORTER_PULL_PORT: `${port}`,
    AUTH_HOOK_PASSWORD_VERIFICATION_ATTEMPT_ENABLED: 'true',
    AUTH_HOOK_PASSWORD_VERIFICATION_ATTEMPT_URI: hook.url,
    AUTH_HOOK_PASSWORD_VERIFICATION_ATTEMPT_SECRETS:
      'v1,whsec_bm90IGEgc2VjcmV0IG9mIGFueSBzZXJ2ZXI=',
    // Nothing listens there.
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: '1',
    AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
    AUTH_RATE_LIMIT_EMAIL_SENT: '2',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: 'off',
    AUTH_RATE_LIMIT_OTP: 'off',
    AUTH_RATE_LIMIT_VERIFY: '1',
  })
  load.start(url)
  return { target: `127.0.0.1:${port}`, breakSignIns: hook.break }
}

/** A receiver of a hook that allows every sign-in until it is broken. */
async function openHook(t: TestContext) {
  let isBroken = false
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(isBroken ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ decision: 'continue' }))
  })
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    break: () => {
      isBroken = true
    },
  }
}

/** Creates a user who signs in repeatedly, with the right password and with a wrong one. */
function createLoad() {
  let isStopped = false
  let running: Promise<void> | undefined
  const run = async (url: string) => {
    const user = { email: newEmail(), password }
    await send(url, '/signup', { body: user })
    while (!isStopped) {
      await send(url, '/token?grant_type=password', { body: user })
      await send(url, '/token?grant_type=password', { body: { ...user, password: 'wrong' } })
      await send(url, '/verify', { body: { type: 'email', email: user.email, token: '000000' } })
      await send(url, '/recover', { body: { email: user.email } })
      await wait(50)
    }
  }
  return {
    start(url: string) {
      running = run(url)
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}
