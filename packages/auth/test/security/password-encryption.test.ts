/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { runCommand } from '../support/auth-command.ts'
import { type AuthServer, openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { keyIdOf, toEncryptionEnvironment } from '../support/encryption-keys.ts'
import { errorOf, type FlowServer, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'

const another = 'another horse battery'
const flowEnvironment = {
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_SMTP_MAX_FREQUENCY: '0s',
} as const

function createCalls({ url, query, serviceToken: token, mailTo, post }: FlowServer) {
  const confirm = async (email: string, body: object = {}) => {
    const { token: token_hash } = await mailTo(email)
    const answer = await post('/verify', { type: 'signup', token_hash, ...body })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  const admin = async (method: string, path: string, body: object) => {
    const answer = await send(url, `/admin${path}`, { method, body, token })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  return {
    confirm,
    admin,
    put: (accessToken: string, body: object) =>
      send(url, '/user', { method: 'PUT', token: accessToken, body }),
    signInAt: (at: Pick<AuthServer, 'url'>, email: string, word = password) =>
      send(at.url, '/token?grant_type=password', { body: { email, password: word } }),
    async storedOf(email: string): Promise<string> {
      const [row] = await query('select encrypted_password as stored from users where email = $1', [
        email,
      ])
      return row.stored
    },
    /** Creates a user whose hash is stored unencrypted, as before the encryption was enabled. */
    async newPlainUser() {
      const email = newEmail()
      const { id } = await admin('POST', '/users', { email, email_confirm: true })
      const hash = await hashBcrypt(password, { cost: 4 })
      await query('update users set encrypted_password = $2 where id = $1', [id, hash])
      return { id: id as string, email, hash }
    },
  }
}

test('each way to set a password stores an encrypted hash (property 64)', async (t) => {
  const server = await openFlowServer(t, {
    ...flowEnvironment,
    ...toEncryptionEnvironment(true, 'a', ['a']),
  })
  if (!server) return
  const { post, query, mailTo } = server
  const { confirm, admin, put, signInAt, storedOf } = createCalls(server)
  const byAdmin = (fields: object) => admin('POST', '/users', { email_confirm: true, ...fields })

  /** Each creates a user with this address and the password. */
  const ways: Readonly<Record<string, (email: string) => Promise<unknown>>> = {
    'a sign-up': async (email) => {
      await post('/signup', { email, password })
      await confirm(email)
    },
    'a repeated sign-up, whose password replaces the first one': async (email) => {
      await post('/signup', { email, password: another })
      await post('/signup', { email, password })
      await confirm(email)
    },
    'an invitation that the user accepts with a password': async (email) => {
      const headers = { authorization: `Bearer ${server.serviceToken}` }
      assert.equal((await post('/invite', { email }, headers)).status, 200)
      await confirm(email, { password })
    },
    'an administrator creating a user': (email) => byAdmin({ email, password }),
    'an administrator importing a hash': async (email) =>
      byAdmin({ email, password_hash: await hashBcrypt(password, { cost: 4 }) }),
    'an administrator changing a password': async (email) => {
      const { id } = await byAdmin({ email, password: another })
      await admin('PUT', `/users/${id}`, { password })
    },
    'a sign-up link': async (email) => {
      const link = await admin('POST', '/generate_link', { type: 'signup', email, password })
      const body = { type: 'signup', token_hash: link.hashed_token }
      assert.equal((await post('/verify', body)).status, 200)
    },
    'a second sign-up link': async (email) => {
      await admin('POST', '/generate_link', { type: 'signup', email, password: another })
      const link = await admin('POST', '/generate_link', { type: 'signup', email, password })
      const body = { type: 'signup', token_hash: link.hashed_token }
      assert.equal((await post('/verify', body)).status, 200)
    },
    'a user changing the password': async (email) => {
      await byAdmin({ email, password: another })
      const { body } = await signInAt(server, email, another)
      const same = await put(body.access_token, { password: another })
      assert.equal(same.body.error_code, 'same_password')
      const wrong = { password, current_password: 'not the password' }
      assert.equal(
        (await put(body.access_token, wrong)).body.error_code,
        'current_password_invalid',
      )
      const right = { password, current_password: another }
      assert.equal((await put(body.access_token, right)).status, 200)
    },
    'an anonymous user': async (email) => {
      const { body } = await post('/signup', {})
      assert.equal((await put(body.access_token, { email })).status, 200)
      const { path } = await mailTo(email)
      assert.equal((await send(server.url, path)).status, 303)
      assert.equal((await put(body.access_token, { password })).status, 200)
    },
  }
  for (const [name, create] of Object.entries(ways)) {
    await t.test(name, async () => {
      const email = newEmail()
      await create(email)
      const stored = await storedOf(email)
      assert.equal(keyIdOf(stored), 'a', stored)
      server.takeStatements()
      assert.equal((await signInAt(server, email)).status, 200)
      assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'open_session'])
      assert.deepEqual(errorOf(await signInAt(server, email, 'wrong')).slice(0, 2), [
        400,
        'invalid_credentials',
      ])
      assert.equal(await storedOf(email), stored, 'a current hash is not encrypted again')
    })
  }

  await t.test('also in a request that waits for the confirmation', async () => {
    const email = newEmail()
    await post('/signup', { email, password })
    const claims = await query(
      `select claim ->> 'hash' as hash from one_time_tokens where relates_to = $1`,
      [email],
    )
    assert.deepEqual(
      claims.map(({ hash }) => keyIdOf(hash)),
      ['a'],
    )
  })

  await t.test('the hash of another user does not work for this one', async () => {
    const [mine, theirs] = [newEmail(), newEmail()]
    await byAdmin({ email: mine, password: another })
    await byAdmin({ email: theirs, password })
    await query(
      'update users set encrypted_password = (select encrypted_password from users where email = $1) where email = $2',
      [theirs, mine],
    )
    assert.equal((await signInAt(server, mine)).status, 500)
  })
})

test('password hashes are encrypted at the next sign-in (property 64)', async (t) => {
  const server = await openFlowServer(t, { AUTH_SECRETS_KEY: '' })
  if (!server) return
  const { databaseUrl: url, schema, clock, query } = server
  const { signInAt, storedOf, newPlainUser, put, admin } = createCalls(server)
  const open = async (env: Readonly<Record<string, string>>) => {
    const opened = await openAuthServer(t, { env, database: { url, schema }, clock })
    assert.ok(opened)
    return opened
  }
  const runKeys = (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const all = { ...testEnvironment, DATABASE_URL: url, AUTH_DB_NAMESPACE: schema, ...env }
    return runCommand(['keys', ...args], { env: all })
  }
  const { email, hash } = await newPlainUser()

  await t.test('AUTH_SECRETS_KEY alone does not encrypt them', async () => {
    const other = newEmail()
    await admin('POST', '/users', { email: other, password, email_confirm: true })
    assert.equal((await signInAt(server, other)).status, 200)
    assert.match(await storedOf(other), /^\$2b\$/)
  })

  const byA = await open(toEncryptionEnvironment(true, 'a', ['a']))
  await t.test('an unencrypted hash, without another statement or another hash', async () => {
    assert.equal((await signInAt(byA, email, 'wrong')).status, 400)
    assert.equal(await storedOf(email), hash)
    byA.takeStatements()
    const answers = await Promise.all([1, 2, 3].map(() => signInAt(byA, email)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    assert.equal(keyIdOf(await storedOf(email)), 'a')
    byA.takeStatements()
    assert.equal((await signInAt(byA, email)).status, 200)
    assert.deepEqual(byA.takeStatements(), ['find_user_by_email', 'open_session'])
  })

  await t.test('an outdated hash is replaced and encrypted', async () => {
    const user = await newPlainUser()
    await query('update users set encrypted_password = $2 where id = $1', [
      user.id,
      await hashBcrypt(password, { cost: 5 }),
    ])
    assert.equal((await signInAt(byA, user.email)).status, 200)
    assert.equal(keyIdOf(await storedOf(user.email)), 'a')
  })

  const byB = await open(toEncryptionEnvironment(true, 'b', ['a', 'b']))
  await t.test('a hash that an older key encrypts', async () => {
    assert.equal((await signInAt(byB, email, 'wrong')).status, 400)
    assert.equal(keyIdOf(await storedOf(email)), 'a')
    assert.equal((await signInAt(byB, email)).status, 200)
    assert.equal(keyIdOf(await storedOf(email)), 'b')
  })

  await t.test('without encryption, encrypted hashes stay valid and as they are', async () => {
    const off = await open(toEncryptionEnvironment(false, 'b', ['a', 'b']))
    const stored = await storedOf(email)
    const { status, body } = await signInAt(off, email)
    assert.equal(status, 200)
    assert.equal(await storedOf(email), stored)
    const changed = await send(off.url, '/user', {
      method: 'PUT',
      token: body.access_token,
      body: { password: another },
    })
    assert.equal(changed.status, 200)
    assert.match(await storedOf(email), /^\$2b\$/)
    assert.equal((await put(body.access_token, { password })).status, 200)
    assert.equal((await signInAt(byB, email)).status, 200)
  })

  await t.test('an unknown key is an error of the server, and the hash is kept', async () => {
    const { id, email: old } = await newPlainUser()
    assert.equal((await signInAt(byA, old)).status, 200)
    const stored = await storedOf(old)
    const onlyB = await open(toEncryptionEnvironment(true, 'b', ['b']))
    for (const word of [password, 'wrong']) {
      const answer = await signInAt(onlyB, old, word)
      assert.deepEqual([answer.status, answer.body.error_code], [500, 'unexpected_failure'])
      assert.doesNotMatch(JSON.stringify(answer.body), /key|hash/i)
    }
    const lines = onlyB.log.filter((line) => line.includes(`The password hash of user ${id}`))
    assert.equal(lines.length, 2)
    assert.match(
      lines[0] ?? '',
      /AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS does not contain its key, which has the name \\?"a\\?"\. Add that key\./,
    )
    assert.doesNotMatch(lines[0] ?? '', /\bat .*\.ts/)
    assert.equal(await storedOf(old), stored)
    const failed = await runKeys(toEncryptionEnvironment(true, 'b', ['b']), 'passwords')
    assert.deepEqual([failed.code, failed.stdout], [1, ''])
    assert.match(
      failed.stderr,
      /^The password hash of user .+ which has the name "a"\. Add that key\.\n$/,
    )
  })

  await t.test('auth keys passwords encrypts the hashes of all users', async () => {
    const waiting = newEmail()
    await server.post('/signup', { email: waiting, password })
    const readAll = () =>
      query(`select encrypted_password as stored from users where encrypted_password is not null
        union all select claim ->> 'hash' from one_time_tokens where claim ? 'hash'`)
    const env = toEncryptionEnvironment(true, 'b', ['a', 'b'])
    const users = await query('select from users where encrypted_password is not null')
    const current = (await readAll()).filter(({ stored }) => keyIdOf(stored) === 'b').length
    const first = await runKeys(env, 'passwords')
    const expected = `${users.length - current} password hashes were encrypted with the key b.\n`
    assert.deepEqual([first.code, first.stdout, first.stderr], [0, expected, ''])
    for (const { stored } of await readAll()) assert.equal(keyIdOf(stored), 'b', stored)
    const again = await runKeys(env, 'passwords')
    assert.equal(again.stdout, '0 password hashes were encrypted with the key b.\n')
    const onlyB = await open(toEncryptionEnvironment(true, 'b', ['b']))
    assert.equal((await signInAt(onlyB, email)).status, 200)
  })

  await t.test('auth keys passwords and unwrap decrypt the hashes of all users', async () => {
    const user = await newPlainUser()
    for (const [encrypts, verb] of [
      [false, 'passwords'],
      [true, 'unwrap'],
    ] as const) {
      assert.equal((await runKeys(toEncryptionEnvironment(true, 'b', ['b']), 'passwords')).code, 0)
      assert.equal(keyIdOf(await storedOf(user.email)), 'b')
      const ended = await runKeys(toEncryptionEnvironment(encrypts, 'b', ['b']), verb)
      assert.equal(ended.code, 0, ended.stderr)
      assert.equal(await storedOf(user.email), user.hash)
      const left = await query(`select from users where encrypted_password like '{%'`)
      assert.deepEqual(left, [])
    }
    const claims = await query(
      `select claim ->> 'hash' as hash from one_time_tokens where claim ->> 'hash' like '{%'`,
    )
    assert.deepEqual(claims, [])
  })
})
