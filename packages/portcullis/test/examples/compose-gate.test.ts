/**
 * @servers postgres, redis, envoy
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { provideOrSkip } from '@portcullis/test-servers'
import { composeFolder } from './support/compose-file.ts'
import { openGate } from './support/gate.ts'

test('the services of examples/compose, behind a real Envoy', async (t) => {
  // make-env.sh needs openssl to sign a token.
  if ((await provideOrSkip(t, 'openssl')) === undefined) return
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-gate-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(composeFolder, folder, { recursive: true, filter: (path) => !path.endsWith('/.env') })
  execFileSync('sh', [join(folder, 'make-env.sh')])
  const variables = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
  const gate = await openGate(t, variables)
  if (!gate) return

  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${gate.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const queryMe = (headers?: Readonly<Record<string, string>>) =>
    post('/graphql', { query: '{ me { email } }' }, headers)

  const person = { email: 'ada@example.com', password: 'correct horse battery' }
  let token = ''

  await t.test('users sign up and sign in under /auth/v1', async () => {
    const answer = await post('/auth/v1/signup', person)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('x-ratelimit-limit'), '20, 20;w=60')
    const signedIn = await (await post('/auth/v1/token?grant_type=password', person)).json()
    assert.equal(typeof signedIn.access_token, 'string')
    token = signedIn.access_token
  })

  await t.test('the API identifies signed-in users, and treats others as anonymous', async () => {
    const mine = await queryMe({ authorization: `Bearer ${token}` })
    assert.deepEqual(await mine.json(), { data: { me: { email: person.email } } })
    assert.equal((await (await queryMe()).json()).data.me, null)
  })

  await t.test('an invalid token is refused by Envoy', async () => {
    const answer = await queryMe({ authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` })
    assert.equal(answer.status, 401)
    assert.match(await answer.text(), /Jwt verification fails/)
  })

  await t.test('clients cannot choose the user that they are counted as', async () => {
    const limit = async (headers: Readonly<Record<string, string>>) =>
      (await queryMe(headers)).headers.get('x-ratelimit-limit')
    // Envoy reports the limit with the fewest remaining requests.
    assert.match((await limit({ authorization: `Bearer ${token}` })) ?? '', /^120, /)
    assert.match((await limit({ 'x-user-id': 'another-user' })) ?? '', /^300, /)
  })

  await t.test(
    'a client over its limit gets 429, by a rule of the API or of the edge',
    async () => {
      const statuses: number[] = []
      // Enough for two windows, because a window may end in between.
      while (statuses.at(-1) !== 429 && statuses.length < 45) {
        statuses.push((await queryMe({ authorization: `Bearer ${token}` })).status)
      }
      assert.equal(statuses.at(-1), 429)
    },
  )

  await t.test('the readiness check is reachable only from the internal network', async () => {
    assert.equal((await fetch(`${gate.url}/auth/v1/ready`)).status, 404)
    assert.equal((await fetch(`${gate.authUrl}/ready`)).status, 200)
  })

  await t.test(
    'the service key manages users from the internal network, but not from outside',
    async () => {
      const headers = { authorization: `Bearer ${variables['AUTH_ADMIN_KEY']}` }
      for (const path of ['admin/users', '%61dmin/users', '/admin/users', '%2e/admin/users']) {
        const { status }: Response = await fetch(`${gate.url}/auth/v1/${path}`, { headers })
        assert.equal(status, 404, path)
      }
      const hidden = await fetch(`${gate.url}/auth/v1%2fadmin/users`, { headers })
      assert.equal(hidden.status, 400)
      const inside = await fetch(`${gate.authUrl}/admin/users`, { headers })
      const { users } = await inside.json()
      assert.deepEqual(
        users.map(({ email }: { email: string }) => email),
        [person.email],
      )
    },
  )
})
