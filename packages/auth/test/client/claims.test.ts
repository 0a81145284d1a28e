/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { createAuthClient, dataOf } from '../support/auth-js.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { newEmail, password } from '../support/http-client.ts'

/** A fetch that records the requested paths. */
function createRecordingFetch() {
  const paths: string[] = []
  const noting: typeof fetch = async (input, init) => {
    paths.push(new URL(String(input)).pathname)
    return fetch(input, init)
  }
  return { paths, noting }
}

function forge(token: string): string {
  const [header, payload = '', signature] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const changed = { ...claims, role: 'service_role' }
  return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.')
}

test('verifying claims with the real client', async (t) => {
  const shared = await openAuthServer(t)
  if (!shared) return
  const database = { url: shared.databaseUrl, schema: shared.schema }

  await t.test(
    'claims signed with the shared secret are verified by requesting the user',
    async () => {
      const { paths, noting } = createRecordingFetch()
      const client = createAuthClient(shared.url, { fetch: noting, storageKey: 'shared' })
      const email = newEmail()
      const { session, user } = dataOf(await client.signUp({ email, password }))
      const token = session?.access_token ?? ''
      const data = dataOf(await client.getClaims())
      assert.equal(data?.header.alg, 'HS256')
      const { claims } = data ?? {}
      assert.deepEqual(
        [claims?.sub, claims?.email, claims?.role, claims?.is_anonymous],
        [user?.id, email, user?.role, false],
      )
      assert.equal(claims?.amr?.length, 1)
      assert.ok(claims?.session_id)
      assert.deepEqual(paths, ['/signup', '/user'])
      const forged = await client.getClaims(forge(token))
      assert.equal(forged.error?.code, 'bad_jwt')
    },
  )

  for (const alg of ['ES256', 'RS256'] as const) {
    await t.test(
      `claims signed with ${alg} are verified with the public keys, without requesting the user`,
      async () => {
        const { privateKey } =
          alg === 'ES256'
            ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
            : generateKeyPairSync('rsa', { modulusLength: 2048 })
        const key = { ...privateKey.export({ format: 'jwk' }), kid: `key of ${alg}`, alg }
        const keys = JSON.stringify([{ ...key, key_ops: ['sign', 'verify'] }])
        const server = await openAuthServer(t, { database, env: { AUTH_JWT_KEYS: keys } })
        if (!server) return
        const { paths, noting } = createRecordingFetch()
        const client = createAuthClient(server.url, { fetch: noting, storageKey: alg })
        const email = newEmail()
        const { session } = dataOf(await client.signUp({ email, password }))
        const token = session?.access_token ?? ''
        for (let time = 1; time <= 2; time++) {
          const data = dataOf(await client.getClaims())
          assert.deepEqual([data?.header.alg, data?.claims.email], [alg, email])
        }
        assert.deepEqual(paths, ['/signup', '/.well-known/jwks.json'])
        const forged = await client.getClaims(forge(token))
        assert.equal(forged.error?.message, 'Invalid JWT signature')
        assert.equal(dataOf(await client.getUser()).user.email, email)
        assert.equal((await client.getUser(forge(token))).error?.code, 'bad_jwt')

        server.clock.aheadMs = -7_200_000
        const old = dataOf(await client.signInWithPassword({ email, password }))
        server.clock.aheadMs = 0
        const expired = await client.getClaims(old.session.access_token)
        assert.equal(expired.error?.name, 'AuthInvalidJwtError')
        assert.equal((await client.getUser(old.session.access_token)).error?.code, 'bad_jwt')
      },
    )
  }
})
