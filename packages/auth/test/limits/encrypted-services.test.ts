/**
 * @servers postgres, redis
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAuthority, findFreePort, open } from '@portcullis/test-servers'
import { openMigratedEnvironment, startAuth } from '../support/auth-program.ts'
import { send } from '../support/http-client.ts'
import { openRateLimitService } from '../support/rate-limit-service.ts'

test('the program counts in services behind TLS and stops on request', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  const folder = await mkdtemp(join(tmpdir(), 'auth-tls-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const authority = createAuthority('limits')
  const { certificate, key } = authority.issue('127.0.0.1')
  const [ca, cert, keyFile] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => join(folder, name))
  if (ca === undefined || cert === undefined || keyFile === undefined) throw new Error('no files')
  await writeFile(ca, authority.certificate)
  await writeFile(cert, certificate)
  await writeFile(keyFile, key)

  const tls = ['--tls-cert-file', cert, '--tls-key-file', keyFile, '--tls-ca-cert-file', ca]
  const port = await findFreePort()
  const redis = await open(t, 'redis', {
    args: [...tls, '--tls-port', `${port}`, '--tls-auth-clients', 'no'],
  })
  if (!redis) return
  const service = await openRateLimitService(t, 'domain: auth\n', {
    GRPC_SERVER_USE_TLS: 'true',
    GRPC_SERVER_TLS_CERT: cert,
    GRPC_SERVER_TLS_KEY: keyFile,
  })
  for (const url of [`rediss://127.0.0.1:${port}`, `grpcs://${service.address}`]) {
    const auth = await startAuth(t, ['up'], {
      ...env,
      NODE_EXTRA_CA_CERTS: ca,
      AUTH_RATE_LIMIT_SERVICE_URL: url,
      AUTH_RATE_LIMIT_SERVICE_TIMEOUT: '10s',
      AUTH_RATE_LIMIT_VERIFY: '1',
    })
    const verify = () => send(auth.url, '/verify', { body: { type: 'signup', token: 'none' } })
    assert.equal((await verify()).status, 403)
    assert.equal((await verify()).status, 429)
    assert.doesNotMatch(auth.output(), /rate limit service/)
    assert.equal(await auth.stop('SIGTERM'), 0)
  }
})
