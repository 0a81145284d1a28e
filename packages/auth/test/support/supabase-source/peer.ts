import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { programEnvironment } from '@portcullis/test-servers'
import { jwtSecret } from '../auth-server.ts'
import { samlEnvironment } from '../saml/sso-server.ts'
import { runIn } from '../shared-postgres.ts'

const { AUTH_PEER_PROGRAM: program, AUTH_PEER_MIGRATIONS: migrations } = process.env

/** The reason to skip the test; undefined if a program is configured. */
export const peerMissing = program
  ? undefined
  : 'no peer: set AUTH_PEER_PROGRAM to the path of the Supabase Auth program'

/** Prepares a database for Supabase Auth: its schema, and roles that its migrations mention. */
export async function preparePeerDatabase(databaseUrl: string): Promise<void> {
  await runIn(databaseUrl, 'create schema auth')
  for (const role of ['postgres', 'anon', 'authenticated', 'service_role', 'supabase_auth_admin']) {
    await runIn(
      databaseUrl,
      `do $$ begin create role ${role}; exception when duplicate_object then null; end $$`,
    )
  }
}

export interface Peer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts Supabase Auth with all features whose data can be imported. */
export async function startPeer(
  t: TestContext,
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Peer> {
  const port = await findPort()
  const file = program ?? ''
  const all = {
    ...programEnvironment,
    GOTRUE_DB_DRIVER: 'postgres',
    DATABASE_URL: `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}search_path=auth`,
    DB_NAMESPACE: 'auth',
    GOTRUE_DB_MIGRATIONS_PATH: migrations ?? join(dirname(file), 'migrations'),
    GOTRUE_JWT_SECRET: jwtSecret,
    GOTRUE_JWT_EXP: '3600',
    GOTRUE_JWT_AUD: 'authenticated',
    GOTRUE_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    GOTRUE_SITE_URL: 'https://app.example.com/home',
    API_EXTERNAL_URL: `http://127.0.0.1:${port}`,
    GOTRUE_API_HOST: '127.0.0.1',
    PORT: `${port}`,
    // Tests run on busy machines, so requests get more time.
    GOTRUE_API_MAX_REQUEST_DURATION: '60s',
    GOTRUE_MAILER_AUTOCONFIRM: 'true',
    GOTRUE_SMS_AUTOCONFIRM: 'true',
    GOTRUE_EXTERNAL_EMAIL_ENABLED: 'true',
    GOTRUE_EXTERNAL_PHONE_ENABLED: 'true',
    GOTRUE_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    GOTRUE_DISABLE_SIGNUP: 'false',
    GOTRUE_MFA_TOTP_ENROLL_ENABLED: 'true',
    GOTRUE_MFA_TOTP_VERIFY_ENABLED: 'true',
    GOTRUE_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
    GOTRUE_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
    GOTRUE_PASSKEY_ENABLED: 'true',
    GOTRUE_OAUTH_SERVER_ENABLED: 'true',
    GOTRUE_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
    // The identity provider knows both servers by the same address.
    GOTRUE_SAML_ENABLED: 'true',
    GOTRUE_SAML_EXTERNAL_URL: 'https://auth.example',
    GOTRUE_SAML_PRIVATE_KEY: samlEnvironment.AUTH_SAML_PRIVATE_KEY,
    GOTRUE_WEBAUTHN_RP_ID: 'app.example.com',
    GOTRUE_WEBAUTHN_RP_DISPLAY_NAME: 'App',
    GOTRUE_WEBAUTHN_RP_ORIGINS: 'https://app.example.com',
    ...env,
  }
  const migrated = spawn(file, ['migrate'], { env: all, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  migrated.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = await once(migrated, 'close')
  if (code !== 0) throw new Error(`The migrations of the peer failed: ${output}`)
  const child = spawn(file, ['serve'], { env: all, stdio: 'ignore' })
  const closed = once(child, 'close')
  const stop = async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await closed
  }
  t.after(stop)
  const url = `http://127.0.0.1:${port}`
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null) throw new Error('The peer has ended')
    await sleep(50)
  }
  return { url, stop }
}

async function isHealthy(url: string): Promise<boolean> {
  return await fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function findPort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
