/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fragmentOf, queryOf } from '../support/flow-server.ts'
import { type HttpAnswer, type RequestOptions, send } from '../support/http-client.ts'
import { openSsoServer } from '../support/saml/sso-server.ts'

test('identity providers cannot take over accounts by an address or a name', async (t) => {
  const server = await openSsoServer(t)
  if (!server) return
  const company = await server.addCompany({ domains: ['company.example'] })
  const other = await server.addCompany({ domains: ['other.example'] })
  const tokens = await send(server.url, `/admin/sso/providers/${company.id}/scim-tokens`, {
    method: 'POST',
    token: server.serviceToken,
  })
  const scim = (path: string, options: RequestOptions) =>
    send(server.url, `/scim/v2${path}`, { token: tokens.body.token, ...options })
  const provision = async (fields: object) => (await scim('/Users', { body: fields })).body
  const userOf = async (answer: HttpAnswer) => {
    const { access_token: token = '' } = fragmentOf(answer)
    return (await send(server.url, '/user', { token })).body
  }
  const signIn = (nameId: string, email: string, more: object = {}) =>
    server.signIn(company, { nameId, attributes: { email: [email] }, ...more })

  await t.test(
    'a provisioned user who has signed in is not found by the address (property 210)',
    async () => {
      for (const nameId of ['opaque-boss', 'boss@company.example']) {
        await server.query("delete from users where email = 'boss@company.example'")
        const email = 'boss@company.example'
        const boss = await provision({ userName: email })
        assert.equal((await userOf(await signIn(nameId, email))).id, boss.id)
        // Many identity providers let users change their own address.
        const employee = await userOf(await signIn('employee', email))
        assert.notEqual(employee.id, boss.id, nameId)
        assert.equal((await userOf(await signIn(nameId, email))).id, boss.id)
      }
    },
  )

  await t.test('letters that look like others are other letters (property 210)', async () => {
    const kelvin = '\u212a'
    const email = 'kim@company.example'
    const nameIdFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
    const kim = await provision({ userName: email })
    assert.equal(
      (await userOf(await signIn('Kim@Company.example', email, { nameIdFormat }))).id,
      kim.id,
    )
    for (const format of [{ nameIdFormat }, {}]) {
      const answer = await signIn(`${kelvin}im@company.example`, 'mallory@company.example', format)
      assert.notEqual((await userOf(answer)).id, kim.id)
    }
  })

  await t.test(
    'an address in the domain of another provider does not count as verified (property 210)',
    async () => {
      const verified = (user: { email_confirmed_at?: string; user_metadata: object }) => [
        user.email_confirmed_at !== undefined,
        Object(user.user_metadata).email_verified,
      ]
      const foreign = await userOf(await signIn('guest', 'ceo@other.example'))
      assert.equal(foreign.email, 'ceo@other.example')
      assert.deepEqual(verified(foreign), [false, false])
      const own = await userOf(await signIn('guest', 'guest@company.example'))
      assert.deepEqual([own.id, ...verified(own)], [foreign.id, true, true])
      const back = await userOf(await signIn('guest', 'ceo@other.example'))
      assert.deepEqual([back.id, ...verified(back)], [foreign.id, false, false])
      const home = await server.signIn(other, {
        nameId: 'ceo',
        attributes: { email: ['ceo@other.example'] },
      })
      assert.deepEqual(verified(await userOf(home)), [true, true])
      // Any provider decides about a domain that no provider has.
      assert.deepEqual(verified(await userOf(await signIn('free', 'free@free.example'))), [
        true,
        true,
      ])
      // A domain that another provider gets later.
      await send(server.url, `/admin/sso/providers/${other.id}`, {
        method: 'PUT',
        token: server.serviceToken,
        body: { domains: ['other.example', 'free.example'] },
      })
      assert.deepEqual(verified(await userOf(await signIn('free', 'free@free.example'))), [
        false,
        false,
      ])
    },
  )

  await t.test('the same holds for users that SCIM provisions (property 210)', async () => {
    const confirmed = async (id: string) => {
      const [row] = await server.query(
        `select email_confirmed_at is not null as confirmed, raw_user_meta_data -> 'email_verified' as verified,
           (select bool_or((i.identity_data -> 'email_verified')::boolean) from identities i where i.user_id = u.id) as by_identity
         from users u where id = $1`,
        [id],
      )
      return [row.confirmed, row.verified, row.by_identity]
    }
    const { id } = await provision({ userName: 'cfo@other.example' })
    assert.deepEqual(await confirmed(id), [false, false, false])
    const body = { userName: 'cfo@company.example' }
    await scim(`/Users/${id}`, { method: 'PUT', body })
    assert.deepEqual((await confirmed(id)).slice(0, 2), [true, true])
  })

  await t.test('a name that is too long for an index is refused (property 203)', async () => {
    const answer = await signIn('n'.repeat(5_000), 'long@company.example')
    assert.equal(queryOf(answer)['error_code'], 'saml_assertion_no_user_id')
  })

  await t.test(
    'a user who is deactivated during the sign-in gets no session (property 212)',
    async () => {
      const email = 'leaver@company.example'
      const { id } = await provision({ userName: email })
      const verifier = 'v'.repeat(64)
      const pkce = { code_challenge: verifier, code_challenge_method: 'plain' }
      const answer = await server.signIn(
        company,
        { nameId: email, attributes: { email: [email] } },
        pkce,
      )
      await scim(`/Users/${id}`, { method: 'PUT', body: { userName: email, active: false } })
      const exchange = { auth_code: queryOf(answer)['code'], code_verifier: verifier }
      const refused = await server.post('/token?grant_type=pkce', exchange)
      assert.equal(refused.body.error_code, 'user_banned')
      assert.deepEqual(await server.query('select id from sessions where user_id = $1', [id]), [])
    },
  )
})
