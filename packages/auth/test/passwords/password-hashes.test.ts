/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'

const password = 'user1password'
/** The libraries use 1 for argon2i. */
const argon2i = 1
const cheap = { memoryCost: 64, timeCost: 1 }
const bcrypt = await hashBcrypt(password, { cost: 4 })

/** The same password as stored by other systems. */
const imported = {
  'bcrypt $2b$, cost 4': bcrypt,
  'bcrypt $2a$, cost 4': bcrypt.replace('$2b$', '$2a$'),
  'bcrypt $2y$, cost 4': bcrypt.replace('$2b$', '$2y$'),
  'bcrypt, cost 11': await hashBcrypt(password, { cost: 11 }),
  argon2id: await hashArgon2(password, cheap),
  argon2i: await hashArgon2(password, { ...cheap, algorithm: argon2i }),
  // The example from the Firebase scrypt repository.
  firebase:
    '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
}
/** All formats are upgraded to bcrypt, and one of each library to argon2id. */
const upgraded = {
  bcrypt: Object.keys(imported) as (keyof typeof imported)[],
  argon2id: ['bcrypt $2b$, cost 4', 'argon2id', 'argon2i', 'firebase'],
} as const
const written = { bcrypt: /^\$2b\$10\$/, argon2id: /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/ }

for (const kind of ['bcrypt', 'argon2id'] as const) {
  test(`passwords are stored as ${kind}, whatever their origin`, async (t) => {
    const server = await openFlowServer(t, {
      AUTH_PASSWORD_HASH: kind,
      AUTH_MAILER_AUTOCONFIRM: 'true',
    })
    if (!server) return
    const { url, serviceToken: token } = server
    const logIn = (email: string, secret = password) =>
      send(url, '/token?grant_type=password', { body: { email, password: secret } })
    const storedOf = async (email: string): Promise<string> => {
      const [row] = await server.query('select encrypted_password from users where email = $1', [
        email,
      ])
      return row.encrypted_password
    }

    await t.test('new hashes, which are not rehashed', async () => {
      const email = newEmail()
      await server.post('/signup', { email, password })
      const before = await storedOf(email)
      assert.match(before, written[kind])
      assert.equal((await logIn(email)).status, 200)
      assert.equal((await logIn(email, 'wrong')).status, 400)
      assert.equal(await storedOf(email), before)
    })

    for (const name of upgraded[kind]) {
      const hash = imported[name]
      await t.test(`${name}, after the next sign-in`, async () => {
        const email = newEmail()
        const body = { email, password_hash: hash, email_confirm: true }
        assert.equal((await send(url, '/admin/users', { body, token })).status, 200)
        assert.equal((await logIn(email, 'wrong')).status, 400)
        assert.equal(await storedOf(email), hash)
        server.takeStatements()
        assert.equal((await logIn(email)).status, 200)
        assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'open_session'])
        assert.match(await storedOf(email), written[kind])
      })
    }

    await t.test('a user without a password gets an unusable hash of the same cost', async () => {
      const email = newEmail()
      await send(url, '/admin/users', { body: { email, email_confirm: true }, token })
      assert.match(await storedOf(email), written[kind])
      assert.equal((await logIn(email, '')).status, 400)
    })
  })
}

test('an unsupported or invalid hash is refused at import', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  for (const hash of ['plain', '$argon2d$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g', '$2b$31$x']) {
    const { status, body } = await send(server.url, '/admin/users', {
      body: { email: newEmail(), password_hash: hash },
      token: server.serviceToken,
    })
    assert.deepEqual([status, body.error_code], [400, 'validation_failed'], hash)
    assert.match(body.msg, /password_hash must be bcrypt/)
  }
})
