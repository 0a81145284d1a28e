/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fragmentOf } from '../../support/flow-server.ts'
import { type RequestOptions, send } from '../../support/http-client.ts'
import { openSsoServer } from '../../support/saml/sso-server.ts'

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

test('changes by SCIM and by administrators of the same users', async (t) => {
  const server = await openSsoServer(t)
  if (!server) return
  const company = await server.addCompany()
  const admin = (path: string, options: RequestOptions = {}) =>
    send(server.url, `/admin${path}`, { token: server.serviceToken, ...options })
  const { body: created } = await admin(`/sso/providers/${company.id}/scim-tokens`, {
    method: 'POST',
  })
  const scim = (path: string, options: RequestOptions = {}) =>
    send(server.url, `/scim/v2${path}`, { token: created.token, ...options })
  const create = async (fields: object) => (await scim('/Users', { body: fields })).body
  const put = (id: string, fields: object, headers: Readonly<Record<string, string>> = {}) =>
    scim(`/Users/${id}`, { method: 'PUT', body: fields, headers })
  const bannedUntil = async (id: string) => {
    const [row] = await server.query('select banned_until from users where id = $1', [id])
    return row.banned_until
  }

  await t.test('deactivation and activation keep the ban of an administrator', async () => {
    const { id, userName } = await create({ userName: 'banned@company.example' })
    await admin(`/users/${id}`, { method: 'PUT', body: { ban_duration: '1000h' } })
    const ban = await bannedUntil(id)
    assert.ok(ban)
    await put(id, { userName, active: false })
    assert.notEqual(await bannedUntil(id), ban)
    await put(id, { userName, active: false, displayName: 'still inactive' })
    await scim(`/Users/${id}`, { method: 'DELETE' })
    await create({ userName })
    assert.equal(await bannedUntil(id), ban)
    await admin(`/users/${id}`, { method: 'PUT', body: { ban_duration: 'none' } })
    await put(id, { userName, active: false })
    await put(id, { userName, active: true })
    assert.equal(await bannedUntil(id), null)
  })

  await t.test('a request that does not mention active does not activate a user', async () => {
    const { id, userName } = await create({ userName: 'inactive@company.example', active: false })
    const { body: replaced } = await put(id, { userName, displayName: 'New name' })
    assert.deepEqual([replaced.active, replaced.displayName], [false, 'New name'])
    const Operations = [{ op: 'remove', path: 'active' }]
    const { body: patched } = await scim(`/Users/${id}`, { method: 'PATCH', body: { Operations } })
    assert.equal(patched.active, false)
    assert.ok(await bannedUntil(id))
  })

  await t.test('an account that an administrator deletes leaves no record in SCIM', async () => {
    for (const should_soft_delete of [true, false]) {
      const userName = 'deleted@company.example'
      const { id } = await create({ userName, title: 'personal data' })
      await scim('/Groups', {
        body: { displayName: `G${should_soft_delete}`, members: [{ value: id }] },
      })
      const deleted = await admin(`/users/${id}`, {
        method: 'DELETE',
        body: { should_soft_delete },
      })
      assert.equal(deleted.status, 200)
      assert.deepEqual(await server.query('select * from scim_users where user_id = $1', [id]), [])
      assert.equal((await scim(`/Users/${id}`)).status, 404)
      const again = await scim('/Users', { body: { userName } })
      assert.equal(again.status, 201)
      assert.notEqual(again.body.id, id)
      await scim(`/Users/${again.body.id}`, { method: 'DELETE' })
      await admin(`/users/${again.body.id}`, { method: 'DELETE' })
    }
  })

  await t.test('If-Match names the version that a request may change or delete', async () => {
    const { id, userName, meta } = await create({ userName: 'version@company.example' })
    const old = { 'if-match': meta.version }
    const listed = { 'if-match': `W/"other", ${meta.version}` }
    const { body: next } = await put(id, { userName, displayName: 'two' }, listed)
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const body = method === 'DELETE' ? {} : { body: { userName, Operations: [] } }
      const answer = await scim(`/Users/${id}`, { method, headers: old, ...body })
      assert.equal(answer.status, 412, method)
    }
    assert.equal((await scim(`/Users/${id}`)).body.displayName, 'two')
    const removed = { method: 'DELETE', headers: { 'if-match': next.meta.version } }
    assert.equal((await scim(`/Users/${id}`, removed)).status, 204)
    const group = (await scim('/Groups', { body: { displayName: 'Versions' } })).body
    const path = `/Groups/${group.id}`
    const stale = { 'if-match': 'W/"other"' }
    assert.equal((await scim(path, { method: 'DELETE', headers: stale })).status, 412)
    const current = { 'if-match': group.meta.version }
    assert.equal((await scim(path, { method: 'DELETE', headers: current })).status, 204)
  })

  await t.test('of several requests with the same If-Match, one changes the user', async () => {
    const { id, userName, meta } = await create({ userName: 'race@company.example' })
    const headers = { 'if-match': meta.version }
    const names = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(
      names.map((displayName) => put(id, { userName, displayName }, headers)),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  })

  await t.test('read-only attributes are refused under their full name, too', async () => {
    const { id } = await create({ userName: 'readonly@company.example' })
    const Operations = [{ op: 'replace', path: `${userSchema}:groups`, value: [] }]
    const { status, body } = await scim(`/Users/${id}`, { method: 'PATCH', body: { Operations } })
    assert.deepEqual([status, body.scimType], [400, 'mutability'])
  })

  await t.test('attributes and excludedAttributes select what a response has', async () => {
    const { id } = await create({
      userName: 'select@company.example',
      externalId: 'e1',
      name: { givenName: 'Ada', familyName: 'King' },
      emails: [{ value: 'select@company.example', type: 'work' }],
      [enterprise]: { department: 'math', costCenter: '7' },
    })
    const get = async (query: Readonly<Record<string, string>>) =>
      (await scim(`/Users/${id}?${new URLSearchParams(query)}`)).body
    const schemas = [userSchema, enterprise]
    assert.deepEqual(await get({ attributes: 'USERNAME, name.givenName,emails.value,unknown' }), {
      schemas,
      id,
      userName: 'select@company.example',
      name: { givenName: 'Ada' },
      emails: [{ value: 'select@company.example' }],
    })
    const department = await get({
      attributes: `${userSchema}:externalId,${enterprise}:department`,
    })
    assert.deepEqual(department, {
      schemas,
      id,
      externalId: 'e1',
      [enterprise]: { department: 'math' },
    })
    const whole = await get({ attributes: enterprise })
    assert.deepEqual(whole[enterprise], { department: 'math', costCenter: '7' })
    const without = await get({
      excludedAttributes: 'id,schemas,meta,groups,name.familyName,emails',
    })
    assert.deepEqual(Object.keys(without).toSorted(), [
      ...['active', 'externalId', 'id', 'name', 'schemas', enterprise, 'userName'],
    ])
    assert.deepEqual(without.name, { givenName: 'Ada' })
    const filter = 'externalId eq "e1"'
    const list = await scim(`/Users?${new URLSearchParams({ filter, attributes: 'userName' })}`)
    assert.deepEqual(list.body.Resources, [{ schemas, id, userName: 'select@company.example' }])
    const members = [{ value: id }]
    const group = await scim('/Groups?excludedAttributes=members,meta', {
      body: { displayName: 'Selected', members },
    })
    assert.deepEqual(Object.keys(group.body), ['schemas', 'id', 'displayName'])
    for (const query of [
      { attributes: 'a', excludedAttributes: 'b' },
      { attributes: 'a b' },
      { attributes: Array(101).fill('a').join() },
    ]) {
      const refused = await scim(`/Users?${new URLSearchParams({ ...query })}`)
      assert.equal(refused.status, 400, JSON.stringify(query))
    }
    const name = { displayName: 'Not written' }
    const wrong = await scim('/Groups?attributes=a&excludedAttributes=b', { body: name })
    assert.equal(wrong.status, 400)
    const found = await scim(
      `/Groups?${new URLSearchParams({ filter: 'displayName eq "Not written"' })}`,
    )
    assert.equal(found.body.totalResults, 0)
  })

  await t.test('a schema and a resource type can be read by their IDs', async () => {
    for (const name of ['Schemas', 'ResourceTypes']) {
      const { Resources: all } = (await scim(`/${name}`)).body
      for (const document of all) {
        assert.deepEqual((await scim(`/${name}/${document.id}`)).body, document)
        assert.ok(document.meta.location.endsWith(`/scim/v2/${name}/${document.id}`))
      }
      assert.equal((await scim(`/${name}/unknown`)).status, 404)
      assert.equal((await scim(`/${name}?filter=id%20pr`)).status, 403)
    }
  })

  await t.test('deactivation ends the session of a sign-in', async () => {
    const nameId = 'session@company.example'
    const { id } = await create({ userName: nameId })
    const answer = await server.signIn(company, { nameId, attributes: { email: [nameId] } })
    const { access_token: token = '' } = fragmentOf(answer)
    assert.equal((await send(server.url, '/user', { token })).body.id, id)
    await put(id, { userName: nameId, active: false })
    assert.equal((await send(server.url, '/user', { token })).status, 403)
  })
})
