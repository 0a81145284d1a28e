/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openAuthServer } from '../../support/auth-server.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { password, type RequestOptions, send } from '../../support/http-client.ts'

const path = '/admin/oauth/clients'
const someId = '11111111-2222-4333-8444-555555555555'
const callback = 'https://client.example/callback'
const environment = { AUTH_OAUTH_SERVER_ENABLED: 'true' }

test('administration of OAuth clients', async (t) => {
  const server = await openFlowServer(t, environment)
  if (!server) return
  const { query, serviceToken: token } = server
  const admin = (to: string, options: RequestOptions = {}) =>
    send(server.url, to, { token, ...options })
  const create = (body: object = {}) =>
    admin(path, { body: { redirect_uris: [callback], ...body } })
  const update = (id: string, body: object) => admin(`${path}/${id}`, { method: 'PUT', body })
  const remove = (id: string) => admin(`${path}/${id}`, { method: 'DELETE' })
  const renew = (id: string) => admin(`${path}/${id}/regenerate_secret`, { method: 'POST' })

  await t.test(
    'registers a client, whose secret is returned once and stored as a hash',
    async () => {
      const { status, body } = await create({ client_name: 'A client' })
      const { client_id: id, client_secret: secret, ...record } = body
      assert.equal(status, 201)
      assert.match(secret, /^[\w-]{43}$/)
      assert.deepEqual(record, {
        client_type: 'confidential',
        redirect_uris: [callback],
        token_endpoint_auth_method: 'client_secret_basic',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        client_name: 'A client',
        registration_type: 'manual',
        created_at: record.created_at,
        updated_at: record.created_at,
      })
      assert.ok(!Number.isNaN(Date.parse(record.created_at)))
      const found = await admin(`${path}/${id.toUpperCase()}`)
      assert.deepEqual([found.status, found.body], [200, { client_id: id, ...record }])
      const [row] = await query('select secret_hash from oauth_clients where id = $1', [id])
      assert.deepEqual(row.secret_hash, createHash('sha256').update(secret).digest())
      const [entry] = await query(
        "select payload from audit_log_entries where payload->>'action' = 'oauth_client_created'",
      )
      assert.deepEqual(entry.payload.traits, { client_id: id })
      assert.equal(entry.payload.actor_username, 'service_role')
    },
  )

  await t.test('a public client has no secret', async () => {
    for (const kind of [{ client_type: 'public' }, { token_endpoint_auth_method: 'none' }]) {
      const { body } = await create(kind)
      assert.deepEqual(
        [body.client_type, body.token_endpoint_auth_method, body.client_secret],
        ['public', 'none', undefined],
      )
      const id = body.client_id
      assert.equal((await renew(id)).body.msg, 'Cannot regenerate secret for public client')
      assert.equal(
        (await update(id, { token_endpoint_auth_method: 'client_secret_post' })).body.msg,
        "token_endpoint_auth_method 'client_secret_post' is not valid for client_type 'public'; valid methods: none",
      )
    }
  })

  await t.test('changes only the fields that are given', async () => {
    const { client_secret: _, ...before } = (await create({ client_name: 'Before' })).body
    const logo = 'https://client.example/logo.png'
    server.clock.aheadMs += 1_000
    const first = (await update(before.client_id, { logo_uri: logo })).body
    assert.deepEqual(first, { ...before, logo_uri: logo, updated_at: first.updated_at })
    assert.ok(first.updated_at > before.updated_at)
    const change = {
      redirect_uris: ['myapp://callback', 'http://localhost:3000/', 'http://[::1]/'],
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'client_secret_post',
      client_name: '',
      client_uri: 'https://client.example/',
    }
    const { client_name: __, ...second } = { ...first, ...change }
    const { body } = await update(before.client_id, change)
    assert.deepEqual(body, { ...second, updated_at: body.updated_at })
    assert.equal((await update(before.client_id, {})).body.msg, 'No fields provided for update')
  })

  await t.test('replaces the secret', async () => {
    const { client_id: id, client_secret: before } = (await create()).body
    const { status, body } = await renew(id)
    assert.deepEqual([status, body.client_id], [200, id])
    assert.notEqual(body.client_secret, before)
    const [row] = await query('select secret_hash from oauth_clients where id = $1', [id])
    assert.deepEqual(row.secret_hash, createHash('sha256').update(body.client_secret).digest())
  })

  await t.test('lists all clients, newest first, or a page of them', async () => {
    await query('delete from oauth_clients')
    const ids: string[] = []
    for (const _ of [1, 2, 3]) {
      server.clock.aheadMs += 1_000
      ids.unshift((await create()).body.client_id)
    }
    const list = async (search = '') => {
      const { body, headers } = await admin(`${path}${search}`)
      const found = body.clients.map(({ client_id: id }: { client_id: string }) => id)
      return [found, headers.get('x-total-count'), headers.get('link')]
    }
    const last = (page: number, size: number) =>
      `<${path}?page=${page}&per_page=${size}>; rel="last"`
    assert.deepEqual(await list('?page=&per_page='), [ids, '3', last(1, 10_000)])
    const next = `<${path}?page=2&per_page=2>; rel="next", ${last(2, 2)}`
    assert.deepEqual(await list('?page=1&per_page=2'), [ids.slice(0, 2), '3', next])
    assert.deepEqual(await list('?page=9&per_page=2'), [[], '3', last(2, 2)])
    assert.ok(!JSON.stringify((await admin(path)).body).includes('client_secret"'))
  })

  await t.test('removes a client', async () => {
    const { client_id: id } = (await create()).body
    const { status } = await remove(id)
    assert.equal(status, 204)
    for (const answer of [
      await admin(`${path}/${id}`),
      await update(id, { client_name: 'Gone' }),
      await renew(id),
      await remove(id),
      await admin(`${path}/${someId}`),
    ]) {
      assert.deepEqual(errorOf(answer), [404, 'oauth_client_not_found', 'OAuth client not found'])
    }
    assert.equal((await admin(`${path}/x`)).body.msg, 'invalid client_id format')
  })

  await t.test('refuses invalid fields', async () => {
    const { client_id: id } = (await create()).body
    const toFault = (uri: string, why: string) =>
      [{ redirect_uris: [uri] }, `invalid redirect_uri '${uri}': ${why}`] as const
    const scheme = (name: string) => `scheme '${name}' is not allowed for security reasons`
    const cases: readonly (readonly [object, string])[] = [
      [{ redirect_uris: Array(11).fill(callback) }, 'redirect_uris cannot exceed 10 items'],
      toFault('', 'redirect URI cannot be empty'),
      toFault('/callback', 'must have scheme and host'),
      toFault('https:///callback', 'must have scheme and host'),
      toFault('myapp:/callback', 'must have scheme and host'),
      toFault('http://client.example/', 'HTTP scheme only allowed for localhost'),
      toFault(`${callback}#part`, 'fragment not allowed in redirect URI'),
      toFault('JavaScript://client.example/%0aalert(1)', scheme('JavaScript')),
      toFault('data://text/html', scheme('data')),
      toFault('https://client.example/\n', 'invalid URL format'),
      toFault('https://client.example\\@other.example/', 'invalid URL format'),
      toFault(`${callback}?${'x'.repeat(2_048)}`, 'redirect URI cannot exceed 2048 characters'),
      [
        { grant_types: ['implicit'] },
        'grant_types must only contain authorization_code, refresh_token, client_credentials, urn:ietf:params:oauth:grant-type:device_code, urn:ietf:params:oauth:grant-type:token-exchange',
      ],
      [{ client_name: 'x'.repeat(1_025) }, 'client_name cannot exceed 1024 characters'],
      [{ client_name: '\0' }, 'client_name has a character that cannot be stored'],
      [{ client_uri: 'javascript:alert(1)' }, 'client_uri must be a valid URL'],
      [{ logo_uri: 'logo.png' }, 'logo_uri must be a valid URL'],
      [{ logo_uri: `https://x/${'x'.repeat(2_048)}` }, 'logo_uri cannot exceed 2048 characters'],
      [
        { token_endpoint_auth_method: 'private_key_jwt' },
        'token_endpoint_auth_method must be one of: none, client_secret_basic, client_secret_post',
      ],
    ]
    for (const [body, message] of cases) {
      const expected = [400, 'validation_failed', message]
      assert.deepEqual(errorOf(await create(body)), expected, JSON.stringify(body))
      assert.deepEqual(errorOf(await update(id, body)), expected, JSON.stringify(body))
    }
    for (const [body, message] of [
      [{ redirect_uris: [] }, 'redirect_uris is required'],
      [{ redirect_uris: null }, 'redirect_uris is required'],
      [{ client_type: 'secret' }, "client_type must be 'public' or 'confidential'"],
      [
        { client_type: 'public', token_endpoint_auth_method: 'client_secret_basic' },
        "client_type 'public' is inconsistent with token_endpoint_auth_method 'client_secret_basic' (expected client_type 'confidential')",
      ],
    ] as const) {
      assert.equal((await create(body)).body.msg, message)
    }
    for (const name of ['redirect_uris', 'grant_types']) {
      assert.equal((await update(id, { [name]: [] })).body.msg, `${name} cannot be empty`)
    }
    for (const value of ['text', [1], {}]) {
      const { status, body } = await create({ redirect_uris: value })
      assert.deepEqual([status, body.error_code], [400, 'bad_json'])
      assert.match(body.msg, /redirect_uris/)
    }
  })

  await t.test('only administrators have access', async () => {
    const { email } = await server.newUser()
    const signedIn = await server.post('/token?grant_type=password', { email, password })
    const user = signedIn.body.access_token
    for (const [to, method] of [
      [path, 'GET'],
      [path, 'POST'],
      [`${path}/${someId}`, 'GET'],
      [`${path}/${someId}`, 'PUT'],
      [`${path}/${someId}`, 'DELETE'],
      [`${path}/${someId}/regenerate_secret`, 'POST'],
    ] as const) {
      const request = { method, ...(method !== 'GET' && { body: {} }) }
      assert.equal((await send(server.url, to, request)).status, 401)
      assert.equal((await send(server.url, to, { ...request, token: user })).status, 403)
    }
  })
})

test('without AUTH_OAUTH_SERVER_ENABLED, clients cannot be registered', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const body = { redirect_uris: [callback] }
  const answer = await send(server.url, path, { token: server.serviceToken, body })
  assert.deepEqual(errorOf(answer), [404, 'feature_disabled', 'OAuth server is disabled'])
})
