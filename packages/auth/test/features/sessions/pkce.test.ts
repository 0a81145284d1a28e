/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { errorOf, openFlowServer, queryOf } from '../../support/flow-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

const notFound = [404, 'flow_state_not_found', 'invalid flow state, no valid flow state found']

function createVerifier() {
  const verifier = randomBytes(56).toString('hex')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, pkce: { code_challenge: challenge, code_challenge_method: 's256' } }
}

test('POST /token with a PKCE code', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, mailTo, query } = server
  const exchange = (code: string | undefined, verifier: string) =>
    post('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier })
  const follow = async (email: string) =>
    queryOf(await send(url, (await mailTo(email)).path))['code'] ?? ''
  const signUp = async (pkce: object) => {
    const email = newEmail()
    const { body } = await post('/signup', { email, password, ...pkce })
    return { email, id: body.id }
  }

  await t.test('returns tokens for the code of each type of link; two statements', async () => {
    const { verifier, pkce } = createVerifier()
    const { email, id } = await signUp(pkce)
    const flows = [
      [undefined, 'email/signup'],
      ['/otp', 'magiclink'],
      ['/recover', 'recovery'],
    ] as const
    for (const [path, method] of flows) {
      server.clock.aheadMs += 901_000
      if (path !== undefined) await post(path, { email, ...pkce })
      const code = await follow(email)
      server.takeStatements()
      const { status, body } = await exchange(code, verifier)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(server.takeStatements(), ['find_flow', 'exchange_flow'])
      assert.equal(body.user.id, id)
      const claims = JSON.parse(
        Buffer.from(body.access_token.split('.')[1], 'base64url').toString(),
      )
      assert.equal(claims.amr[0].method, method)
      assert.ok(body.user.last_sign_in_at)
      const [session] = await query('select is_recovery from sessions where id = $1', [
        claims.session_id,
      ])
      assert.equal(session.is_recovery, method === 'recovery')
      assert.equal((await server.actionsOf(id)).at(-1), 'login')
    }
  })

  await t.test('a code works once, also for concurrent requests', async () => {
    const { verifier, pkce } = createVerifier()
    const { email, id } = await signUp(pkce)
    const code = await follow(email)
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(code, verifier)))
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, ...Array.from({ length: 9 }, () => 404)])
    assert.deepEqual(errorOf(await exchange(code, verifier)), notFound)
    assert.equal((await query('select 1 from sessions where user_id = $1', [id])).length, 1)
    assert.deepEqual(await query('select 1 from flow_states where user_id = $1', [id]), [])
  })

  await t.test('a concurrent change of the user is not lost', async () => {
    const { verifier, pkce } = createVerifier()
    const { email, id } = await signUp(pkce)
    const code = await server.whileChanged(id, () => follow(email))
    const { status, body } = await server.whileChanged(id, () => exchange(code, verifier))
    assert.deepEqual([status, body.user?.user_metadata.changed], [200, true])
  })

  await t.test('accepts a plain challenge, and only its own verifier', async () => {
    const verifier = 'v'.repeat(50)
    const { email } = await signUp({ code_challenge: verifier, code_challenge_method: 'PLAIN' })
    const code = await follow(email)
    assert.deepEqual(errorOf(await exchange(code, 'w'.repeat(50))), [
      400,
      'bad_code_verifier',
      'code challenge does not match previously saved code verifier',
    ])
    assert.equal((await exchange(code, verifier)).status, 200)
  })

  await t.test('a code is valid for five minutes after the click', async () => {
    const { verifier, pkce } = createVerifier()
    const { email } = await signUp(pkce)
    server.clock.aheadMs += 1_800_000
    const code = await follow(email)
    server.clock.aheadMs += 301_000
    assert.deepEqual(errorOf(await exchange(code, verifier)), [
      422,
      'flow_state_expired',
      'invalid flow state, flow state has expired',
    ])
    server.clock.aheadMs -= 61_000
    assert.equal((await exchange(code, verifier)).status, 200)
  })

  await t.test('refuses a code that was never issued, and the code of a banned user', async () => {
    const { verifier, pkce } = createVerifier()
    const { email, id } = await signUp(pkce)
    const [flow] = await query('select auth_code from flow_states where user_id = $1', [id])
    assert.deepEqual(errorOf(await exchange(flow.auth_code, verifier)), notFound)
    const code = await follow(email)
    assert.equal(code, flow.auth_code)
    await query(`update users set banned_until = now() + interval '10 years' where id = $1`, [id])
    assert.deepEqual(errorOf(await exchange(code, verifier)), [
      403,
      'user_banned',
      'User is banned',
    ])
  })

  await t.test('reports invalid requests', async () => {
    const empty = [
      400,
      'validation_failed',
      'invalid request: both auth code and code verifier should be non-empty',
    ]
    assert.deepEqual(errorOf(await exchange('', 'x')), empty)
    assert.deepEqual(errorOf(await exchange(randomUUID(), '')), empty)
    assert.deepEqual(errorOf(await post('/token?grant_type=pkce', {})), empty)
    assert.deepEqual(errorOf(await exchange(randomUUID(), 'x')), notFound)
    assert.deepEqual(errorOf(await exchange('not a code', 'x')), notFound)
  })

  await t.test(
    'POST /verify returns tokens for a link from a PKCE flow of a server app',
    async () => {
      const { pkce } = createVerifier()
      const { email } = await signUp(pkce)
      const { token } = await mailTo(email)
      const { status, body } = await post('/verify', { type: 'email', token_hash: token })
      assert.equal(status, 200, JSON.stringify(body))
      assert.ok(body.access_token)
      const other = await signUp(pkce)
      const { code } = await mailTo(other.email)
      const digits = await post('/verify', { type: 'signup', token: code, email: other.email })
      assert.equal(digits.status, 200, JSON.stringify(digits.body))
    },
  )
})
