/**
 * @legs safety
 * @servers postgres, pgbouncer
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { openProgramEnvironment, startAuth } from '../support/auth-program.ts'
import { jwtSecret, openAuthServer } from '../support/auth-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { openRevokingVerifier } from '../support/revocations.ts'
import { openOwnDatabase } from '../support/shared-postgres.ts'
import { openTestSchema } from '../support/test-schema.ts'

const key = createTokenSigner(
  createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
).sign({ role: 'token_verifier' })

async function signUp(url: string): Promise<string> {
  const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
  return body.access_token
}

const signOut = (url: string, token: string) => send(url, '/logout', { method: 'POST', token })

test('a sign-out at any process is reported by all of them, and streams do not delay a stop', async (t) => {
  const environment = await openProgramEnvironment(t)
  if (!environment) return
  const env = { ...environment, WORKERS: '2' }
  const first = await startAuth(t, ['up'], env)
  const second = await startAuth(t, ['up'], env)
  const servers = [first, second]
  // Connections are shared among the workers in turn.
  const verifiers = servers.flatMap(({ url: authUrl }) =>
    [1, 2].map(() => openRevokingVerifier(t, { key, authUrl })),
  )
  for (const { url } of servers) {
    const token = await signUp(url)
    for (const { judge } of verifiers) assert.equal(await judge(token), 'accepted')
    await signOut(url, token)
    await Promise.all(verifiers.map(({ untilRevoked }) => untilRevoked(token)))
  }
  assert.equal(await second.stop('SIGTERM'), 0)
  assert.doesNotMatch(second.output(), /did not finish|still open/i)
})

test('behind PgBouncer, which does not pass notifications on, revocations are read regularly', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { name: schema } = await openTestSchema(postgres.url)
  const pooler = await open(t, 'pgbouncer', {
    upstream: postgres.url,
    settings: { pool_mode: 'transaction', default_pool_size: '12' },
  })
  if (!pooler) return
  const server = await openAuthServer(t, {
    database: { url: postgres.url, schema },
    through: pooler.url,
  })
  if (!server) return
  const { judge, untilRevoked } = openRevokingVerifier(t, { key, authUrl: server.url })
  const token = await signUp(server.url)
  assert.equal(await judge(token), 'accepted')
  await signOut(server.url, token)
  await untilRevoked(token)
  const warning =
    /cannot notify this server of revocations, because a connection pooler is in between/
  await until(() => server.log.some((line) => warning.test(line)))
})
