/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '../../src/features/index.ts'
import { fragmentOf } from '../support/flow-server.ts'
import { password, type RequestOptions, send } from '../support/http-client.ts'
import { openSsoServer } from '../support/saml/sso-server.ts'

test('SCIM tokens reach only the users and groups of their provider (property 212)', async (t) => {
  const server = await openSsoServer(t)
  if (!server) return
  const openScim = async (company: { readonly id: string }) => {
    const path = `/admin/sso/providers/${company.id}/scim-tokens`
    const { body } = await send(server.url, path, { method: 'POST', token: server.serviceToken })
    return (scimPath: string, options: RequestOptions = {}) =>
      send(server.url, `/scim/v2${scimPath}`, { token: body.token, ...options })
  }
  const [company, other] = [await server.addCompany(), await server.addCompany()]
  const [scim, foreign] = [await openScim(company), await openScim(other)]
  const create = async (userName: string) => (await scim('/Users', { body: { userName } })).body
  const isBanned = async (id: string) => {
    const [row] = await server.query('select banned_until from users where id = $1', [id])
    return row.banned_until !== null
  }
  const deactivate = { Operations: [{ op: 'replace', value: { active: false } }] }

  await t.test('no endpoint works without a SCIM token (property 212)', async () => {
    const { email } = await server.newUser()
    const session = await server.post('/token?grant_type=password', { email, password })
    const userToken: string = session.body.access_token
    assert.ok(userToken)
    const scimEndpoints = endpoints.filter(({ path }) => path.startsWith('/scim/'))
    assert.equal(scimEndpoints.length, 17)
    for (const { method, path } of scimEndpoints) {
      for (const token of [undefined, userToken, server.serviceToken, 'scim_', 'x'.repeat(5_000)]) {
        const answer = await send(server.url, path.replace(':id', crypto.randomUUID()), {
          method,
          ...(token !== undefined && { token }),
          ...(method !== 'GET' && { body: {} }),
        })
        assert.deepEqual([answer.status, answer.body.status], [401, '401'], `${method} ${path}`)
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
      }
    }
  })

  await t.test('users and groups of another provider do not exist (property 212)', async () => {
    const user = await create('private@company.example')
    const group = (await scim('/Groups', { body: { displayName: 'Private' } })).body
    assert.equal((await foreign('/Users')).body.totalResults, 0)
    assert.equal((await foreign('/Groups')).body.totalResults, 0)
    for (const path of [`/Users/${user.id}`, `/Groups/${group.id}`]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const body = { ...deactivate, userName: 'taken', displayName: 'Taken' }
        const answer = await foreign(path, { method, ...(method !== 'GET' && { body }) })
        assert.equal(answer.status, 404, `${method} ${path}`)
      }
    }
    // The same name is another user, and a foreign member is not added.
    const same = (await foreign('/Users', { body: { userName: 'private@company.example' } })).body
    assert.notEqual(same.id, user.id)
    const members = [{ value: user.id }]
    const mixed = await foreign('/Groups', { body: { displayName: 'Mixed', members } })
    assert.deepEqual(mixed.body.members, [])
    assert.equal(await isBanned(user.id), false)
  })

  await t.test('accounts of another kind are out of reach (property 212)', async () => {
    const { email, id } = await server.newUser()
    const claimed = (await foreign('/Users', { body: { userName: email } })).body
    assert.notEqual(claimed.id, id)
    await foreign(`/Users/${claimed.id}`, { method: 'DELETE' })
    assert.equal(await isBanned(id), false)
    const answer = await foreign(`/Users/${id}`, { method: 'PATCH', body: deactivate })
    assert.equal(answer.status, 404)
    // A user who signs in with another provider is not provisioned by the address.
    const nameId = 'shared@company.example'
    const signedIn = await server.signIn(company, { nameId, attributes: { email: [nameId] } })
    const token = fragmentOf(signedIn)['access_token'] ?? ''
    const own = (await send(server.url, '/user', { token })).body
    const namesake = (await foreign('/Users', { body: { userName: nameId } })).body
    assert.notEqual(namesake.id, own.id)
  })

  await t.test('deactivation is in the feed of revocations (property 212)', async () => {
    const nameId = 'leaver@company.example'
    const user = await create(nameId)
    const sign = { nameId, attributes: { email: [nameId] } }
    assert.ok(fragmentOf(await server.signIn(company, sign))['access_token'])
    await scim(`/Users/${user.id}`, { method: 'PATCH', body: deactivate })
    const rows = await server.query(
      `select kind from revocations r
       where subject = $1 or subject in (select id from sessions where user_id = $1) order by kind`,
      [user.id],
    )
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['session', 'user'],
    )
  })

  await t.test('large and deep requests are refused (property 212)', async () => {
    const user = await create('limits@company.example')
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const path = Array(5_000).fill('a').join('.')
    const nul = String.fromCharCode(0)
    const patch = (...Operations: readonly object[]) =>
      scim(`/Users/${user.id}`, { method: 'PATCH', body: { Operations } })
    const cases = [
      [await scim('/Users', { body: `{"userName":"deep","x":${deep}}` }), 400],
      [await scim('/Users', { body: { userName: `a${nul}` } }), 400],
      [await scim('/Users', { body: { userName: 'large', x: 'y'.repeat(20_000) } }), 400],
      [await scim('/Users', { body: { userName: 'larger', x: 'y'.repeat(2 ** 21) } }), 413],
      [await patch({ op: 'add', path, value: 1 }), 400],
      [await patch(...Array(201).fill({ op: 'add', path: 'a', value: 1 })), 400],
      [await scim('/Users?filter=userName%20eq%20%22%5Cu0000%22'), 400],
      [await scim(`/Users?filter=${'('.repeat(100)}`), 400],
      [await scim(`/Users?sortBy=${path.slice(0, 1_000)}`), 400],
    ] as const
    for (const [at, [answer, status]] of cases.entries()) {
      assert.deepEqual([answer.status, answer.body.status], [status, `${status}`], `case ${at}`)
    }
  })

  await t.test('filters that take too many comparisons are refused (property 212)', async () => {
    const v = Array(4_000).fill(0)
    const users = await Promise.all(
      ['one', 'two', 'three'].map(async (userName) => {
        return (await scim('/Users', { body: { userName, v } })).body
      }),
    )
    const filter = Array(195).fill('v eq 1').join(' or ')
    const list = await scim(`/Users?${new URLSearchParams({ filter })}`)
    assert.deepEqual([list.status, list.body.scimType], [400, 'tooMany'])
    const Operations = Array(10).fill({ op: 'remove', path: `v[${filter}]` })
    const patch = { method: 'PATCH', body: { Operations } }
    const { status, body } = await scim(`/Users/${users[0]?.id}`, patch)
    assert.deepEqual([status, body.scimType], [400, 'tooMany'])
    const usual = await scim(`/Users?${new URLSearchParams({ filter: 'v eq 1' })}`)
    assert.deepEqual([usual.status, usual.body.totalResults], [200, 0])
  })

  await t.test('a disabled provider cannot manage users any more (property 212)', async () => {
    await server.query('update sso_providers set disabled = true where id = $1', [other.id])
    assert.equal((await foreign('/Users')).status, 401)
    assert.equal((await scim('/Users')).status, 200)
  })
})
