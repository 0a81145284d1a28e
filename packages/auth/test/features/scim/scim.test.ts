/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fragmentOf } from '../../support/flow-server.ts'
import { type HttpAnswer, type RequestOptions, send } from '../../support/http-client.ts'
import { openSsoServer } from '../../support/saml/sso-server.ts'

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

test('identity providers manage users and groups with SCIM', async (t) => {
  const server = await openSsoServer(t)
  if (!server) return
  const admin = (path: string, options: RequestOptions = {}) =>
    send(server.url, `/admin/sso/providers${path}`, { token: server.serviceToken, ...options })
  const addToken = async (id: string) =>
    (await admin(`/${id}/scim-tokens`, { method: 'POST' })).body
  const company = await server.addCompany()
  const { token } = await addToken(company.id)
  const scimWith =
    (key: string) =>
    (path: string, options: RequestOptions = {}) =>
      send(server.url, `/scim/v2${path}`, {
        token: key,
        headers: { 'content-type': 'application/scim+json' },
        ...options,
      })
  const scim = scimWith(token)
  const parse = ({ body }: HttpAnswer) => body
  const create = async (fields: object) => {
    const answer = await scim('/Users', { body: { schemas: [userSchema], ...fields } })
    return { status: answer.status, headers: answer.headers, user: parse(answer) }
  }
  const patch = async (path: string, ...operations: readonly object[]) => {
    const body = { schemas: [patchSchema], Operations: operations }
    const answer = await scim(path, { method: 'PATCH', body })
    return { status: answer.status, body: parse(answer) }
  }
  const find = async (filter: string) =>
    parse(await scim(`/Users?${new URLSearchParams({ filter })}`))
  const accountOf = async (id: string) =>
    (await server.query('select * from users where id = $1', [id]))[0]
  const signIn = (nameId: string) =>
    server.signIn(company, { nameId, attributes: { email: [nameId] } })

  await t.test('tokens are shown once, stored as a hash, and can be replaced', async () => {
    assert.match(token, /^scim_[\w-]{43}$/)
    const [row] = await server.query('select token_hash from scim_tokens')
    assert.deepEqual(row.token_hash, createHash('sha256').update(token).digest())
    const second = await addToken(company.id)
    const list = (await admin(`/${company.id}/scim-tokens`)).body.items
    assert.deepEqual(
      list.map((each: { id: string }) => Object.keys(each)),
      [
        ['id', 'created_at'],
        ['id', 'created_at'],
      ],
    )
    const other = scimWith(second.token)
    assert.equal((await other('/Users')).status, 200)
    const path = `/${company.id}/scim-tokens/${second.id}`
    assert.equal((await admin(path, { method: 'DELETE' })).status, 204)
    assert.equal((await other('/Users')).status, 401)
    assert.equal((await scim('/Users')).status, 200)
    assert.equal((await scimWith(server.serviceToken)('/Users')).status, 401)
  })

  await t.test('the requests that Okta sends: look up, create, update, deactivate', async () => {
    const query = 'filter=userName%20eq%20%22ada%40company.example%22&startIndex=1&count=100'
    const empty = parse(await scim(`/Users?${query}`))
    assert.deepEqual(empty, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: 0,
      startIndex: 1,
      itemsPerPage: 0,
      Resources: [],
    })
    const fields = {
      userName: 'ada@company.example',
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      emails: [{ primary: true, value: 'Ada@company.example', type: 'work' }],
      displayName: 'Ada Lovelace',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    }
    const { status, user, headers } = await create(fields)
    assert.equal(status, 201)
    assert.match(headers.get('content-type') ?? '', /^application\/scim\+json/)
    assert.equal(headers.get('location'), user.meta.location)
    assert.equal(headers.get('etag'), user.meta.version)
    assert.deepEqual(
      [user.userName, user.externalId, user.active],
      [fields.userName, fields.externalId, true],
    )
    assert.deepEqual(
      [user.name, user.emails, user.password],
      [fields.name, fields.emails, undefined],
    )
    const account = await accountOf(user.id)
    assert.equal(account.email, 'ada@company.example')
    assert.deepEqual([account.is_sso_user, account.encrypted_password], [true, null])
    assert.deepEqual(account.raw_user_meta_data.full_name, 'Ada Lovelace')
    const signedIn = fragmentOf(await signIn('ada@company.example'))['access_token'] ?? ''
    const own = await send(server.url, '/user', { token: signedIn })
    assert.equal(own.body.id, user.id)

    const replaced = await scim(`/Users/${user.id}`, {
      method: 'PUT',
      body: { ...user, displayName: 'Ada King', name: { formatted: 'Ada King' } },
    })
    assert.deepEqual([replaced.status, parse(replaced).displayName], [200, 'Ada King'])
    const off = await patch(`/Users/${user.id}`, { op: 'replace', value: { active: false } })
    assert.deepEqual([off.status, off.body.active], [200, false])
    const refused = await send(server.url, '/user', { token: signedIn })
    assert.equal(refused.status, 403)
    const [session] = await server.query('select revoked_at from sessions where user_id = $1', [
      user.id,
    ])
    assert.ok(session.revoked_at)
    const again = await signIn('ada@company.example')
    assert.match(again.headers.get('location') ?? '', /error_code=user_banned/)
    await patch(`/Users/${user.id}`, { op: 'replace', value: { active: true } })
    assert.ok(fragmentOf(await signIn('ada@company.example'))['access_token'])
  })

  await t.test(
    'the requests that Entra ID sends: dotted paths, words for booleans, filters in paths',
    async () => {
      const { user } = await create({
        externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
        userName: 'Test_User_ab6490ee',
        active: true,
        emails: [{ primary: true, type: 'work', value: 'test@company.example' }],
        name: { formatted: 'given family', familyName: 'family', givenName: 'given' },
        [enterprise]: { department: 'bureau' },
      })
      assert.deepEqual(user.schemas, [userSchema, enterprise])
      const found = await find('externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"')
      assert.deepEqual([found.totalResults, found.Resources[0].id], [1, user.id])
      const { body } = await patch(
        `/Users/${user.id}`,
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@company.example' },
        { op: 'Replace', path: 'name.familyName', value: 'updated' },
        { op: 'Add', path: `${enterprise}:manager`, value: 'boss' },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '+1 555 0100' },
        { op: 'Add', value: { 'name.honorificPrefix': 'Dr.', [`${enterprise}:costCenter`]: '7' } },
      )
      assert.equal(body.emails[0].value, 'updated@company.example')
      assert.deepEqual(body.name, {
        formatted: 'given family',
        familyName: 'updated',
        givenName: 'given',
        honorificPrefix: 'Dr.',
      })
      assert.deepEqual(body[enterprise], { department: 'bureau', manager: 'boss', costCenter: '7' })
      assert.deepEqual(body.phoneNumbers, [{ type: 'work', value: '+1 555 0100' }])
      assert.equal((await accountOf(user.id)).email, 'updated@company.example')
      const off = await patch(`/Users/${user.id}`, {
        op: 'Replace',
        path: 'active',
        value: 'False',
      })
      assert.equal(off.body.active, false)
      assert.ok((await accountOf(user.id)).banned_until)
      const removed = await patch(`/Users/${user.id}`, { op: 'Remove', path: 'phoneNumbers' })
      assert.equal(removed.body.phoneNumbers, undefined)
    },
  )

  await t.test('DELETE bans the user, and a user who comes back has the same account', async () => {
    const { user } = await create({ userName: 'gone@company.example' })
    const members = [{ value: user.id }]
    await scim('/Groups', { body: { displayName: 'Administrators', members } })
    assert.deepEqual((await accountOf(user.id)).raw_app_meta_data.groups, ['Administrators'])
    assert.equal((await scim(`/Users/${user.id}`, { method: 'DELETE' })).status, 204)
    const missing = await scim(`/Users/${user.id}`)
    assert.deepEqual(
      [missing.status, parse(missing).schemas],
      [404, ['urn:ietf:params:scim:api:messages:2.0:Error']],
    )
    assert.equal((await find('userName eq "gone@company.example"')).totalResults, 0)
    const refused = await signIn('gone@company.example')
    assert.match(refused.headers.get('location') ?? '', /error_code=user_banned/)
    const back = await create({ userName: 'gone@company.example' })
    assert.deepEqual([back.status, back.user.id], [201, user.id])
    assert.equal((await accountOf(user.id)).raw_app_meta_data.groups, undefined)
    assert.equal((await accountOf(user.id)).banned_until, null)
  })

  await t.test('a user who has signed in before is provisioned, not created twice', async () => {
    const signedIn = fragmentOf(await signIn('early@company.example'))['access_token'] ?? ''
    const { body: before } = await send(server.url, '/user', { token: signedIn })
    const { user } = await create({ userName: 'Early@company.example' })
    assert.equal(user.id, before.id)
    // A persistent name ID that differs from the user name belongs to the user with the address.
    const { user: late } = await create({ userName: 'late@company.example', externalId: 'e-77' })
    const answer = await server.signIn(company, {
      nameId: 'opaque-1',
      attributes: { email: ['late@company.example'] },
    })
    const { body: after } = await send(server.url, '/user', {
      token: fragmentOf(answer)['access_token'] ?? '',
    })
    assert.equal(after.id, late.id)
  })

  await t.test('a name that is free again belongs to the user who gets it next', async () => {
    const { user: renamed } = await create({ userName: 'name@company.example' })
    await signIn('name@company.example')
    await patch(`/Users/${renamed.id}`, { op: 'replace', path: 'userName', value: 'former' })
    const { status, user: next } = await create({ userName: 'name@company.example' })
    assert.equal(status, 201)
    assert.notEqual(next.id, renamed.id)
    const token = fragmentOf(await signIn('name@company.example'))['access_token'] ?? ''
    assert.equal((await send(server.url, '/user', { token })).body.id, next.id)
  })

  await t.test('a ban by an administrator outlives activation', async () => {
    const { user } = await create({ userName: 'banned@company.example' })
    await send(server.url, `/admin/users/${user.id}`, {
      method: 'PUT',
      token: server.serviceToken,
      body: { ban_duration: '1000h' },
    })
    await patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: true })
    assert.ok((await accountOf(user.id)).banned_until)
  })

  await t.test('groups become the claim app_metadata.groups', async () => {
    const [one, two] = [
      (await create({ userName: 'one@company.example' })).user,
      (await create({ userName: 'two@company.example' })).user,
    ]
    const groupsOf = async (id: string) => (await accountOf(id)).raw_app_meta_data.groups
    const created = await scim('/Groups', {
      body: { schemas: [groupSchema], displayName: 'Staff', members: [{ value: one.id }] },
    })
    const group = parse(created)
    assert.deepEqual([created.status, group.members[0].value], [201, one.id])
    assert.deepEqual(await groupsOf(one.id), ['Staff'])
    const path = `/Groups/${group.id}`
    await patch(path, { op: 'Add', path: 'members', value: [{ value: two.id }] })
    assert.deepEqual(await groupsOf(two.id), ['Staff'])
    await patch(path, { op: 'replace', value: { id: group.id, displayName: 'Crew' } })
    assert.deepEqual(await groupsOf(two.id), ['Crew'])
    const read = parse(await scim(`/Users/${two.id}`))
    assert.deepEqual(read.groups[0].display, 'Crew')
    await patch(path, { op: 'remove', path: `members[value eq "${one.id}"]` })
    await patch(path, { op: 'Remove', path: 'members', value: [{ value: two.id }] })
    assert.deepEqual([await groupsOf(one.id), await groupsOf(two.id)], [[], []])
    // Providers send such requests at the same time.
    await Promise.all(
      [one, two].map(({ id }) =>
        patch(path, { op: 'add', path: 'members', value: [{ value: id }] }),
      ),
    )
    assert.deepEqual([await groupsOf(one.id), await groupsOf(two.id)], [['Crew'], ['Crew']])
    assert.equal((await scim(path, { method: 'DELETE' })).status, 204)
    assert.deepEqual(await groupsOf(two.id), [])
    const list = parse(await scim('/Groups?filter=displayName%20eq%20%22Crew%22'))
    assert.equal(list.totalResults, 0)
  })

  await t.test('lists are filtered, sorted and paged', async () => {
    for (const name of ['zoe', 'xena', 'yves']) {
      await create({
        userName: `${name}@list.example`,
        name: { familyName: name },
        active: name !== 'yves',
      })
    }
    const names = (list: { Resources: { userName: string }[] }) =>
      list.Resources.map(({ userName }) => userName.split('@')[0])
    const cases = [
      ['userName ew "@list.example" and active eq true', ['zoe', 'xena']],
      ['userName ew "@list.example" and not (name.familyName sw "z")', ['xena', 'yves']],
      ['USERNAME eq "ZOE@list.example"', ['zoe']],
      ['name.familyName pr and (userName co "xena" or userName co "yves")', ['xena', 'yves']],
      [`${userSchema}:userName eq "zoe@list.example"`, ['zoe']],
      ['emails[type eq "work" and value co "updated"]', ['Test_User_ab6490ee']],
    ] as const
    for (const [filter, expected] of cases)
      assert.deepEqual(names(await find(filter)), expected, filter)
    const query = new URLSearchParams({
      filter: 'userName ew "@list.example"',
      sortBy: 'name.familyName',
      sortOrder: 'descending',
      startIndex: '2',
      count: '1',
    })
    const page = parse(await scim(`/Users?${query}`))
    assert.deepEqual([page.totalResults, page.startIndex, page.itemsPerPage], [3, 2, 1])
    assert.deepEqual(names(page), ['yves'])
    const first = parse(await scim('/Users?count=1'))
    assert.equal(first.itemsPerPage, 1)
    assert.ok(first.totalResults > 5)
    assert.equal(parse(await scim('/Users?count=0')).itemsPerPage, 0)
  })

  await t.test('errors have the form of RFC 7644', async () => {
    const errorOf = (answer: HttpAnswer) => {
      const { schemas, status, scimType } = parse(answer)
      return [answer.status, schemas, status, scimType]
    }
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error']
    const { user } = await create({ userName: 'twice@company.example' })
    const twice = await scim('/Users', { body: { userName: 'TWICE@company.example' } })
    assert.deepEqual(errorOf(twice), [409, schemas, '409', 'uniqueness'])
    const cases = [
      [scim('/Users?filter=userName%20is%20%22a%22'), 400, 'invalidFilter'],
      [scim('/Users?filter=userName%20eq'), 400, 'invalidFilter'],
      [scim(`/Users?filter=${'('.repeat(50)}`), 400, 'invalidFilter'],
      [scim('/Users', { body: {} }), 400, 'invalidValue'],
      [scim('/Users', { body: '{' }), 400, undefined],
      [scim('/Users', { body: [] }), 400, 'invalidSyntax'],
      [scim(`/Users/${randomUUID()}`), 404, undefined],
      [scim('/Users/mine'), 404, undefined],
      [scimWith('scim_wrong')('/Users'), 401, undefined],
    ] as const
    for (const [answer, status, scimType] of cases) {
      assert.deepEqual(errorOf(await answer), [status, schemas, `${status}`, scimType])
    }
    const path = `/Users/${user.id}`
    for (const [operation, scimType] of [
      [{ op: 'move', path: 'a' }, 'invalidSyntax'],
      [{ op: 'remove' }, 'noTarget'],
      [{ op: 'replace', path: 'emails[type eq', value: 1 }, 'invalidPath'],
      [{ op: 'add', path: '__proto__', value: { polluted: true } }, 'invalidPath'],
      [{ op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
      [{ op: 'replace', path: 'id', value: randomUUID() }, 'mutability'],
    ] as const) {
      const { status, body } = await patch(path, operation)
      assert.deepEqual([status, body.scimType], [400, scimType], JSON.stringify(operation))
    }
    const stale = await scim(path, {
      method: 'PUT',
      body: user,
      headers: { 'if-match': 'W/"2020-01-01T00:00:00Z"' },
    })
    assert.deepEqual(errorOf(stale), [412, schemas, '412', undefined])
  })

  await t.test('the documents of RFC 7643 describe what is supported', async () => {
    const config = parse(await scim('/ServiceProviderConfig'))
    assert.deepEqual([config.patch.supported, config.bulk.supported], [true, false])
    const types = parse(await scim('/ResourceTypes'))
    assert.deepEqual(
      types.Resources.map(({ id }: { id: string }) => id),
      ['User', 'Group'],
    )
    const schemas = parse(await scim('/Schemas'))
    assert.deepEqual(
      schemas.Resources.map(({ id }: { id: string }) => id),
      [userSchema, groupSchema],
    )
  })
})
