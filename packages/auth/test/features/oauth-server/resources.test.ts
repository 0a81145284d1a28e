/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVerifier } from '../../../src/verify/index.ts'
import { openAuthorizationServer, queryOf } from '../../support/authorization-server.ts'
import { claimsOf } from '../../support/factors.ts'
import { send } from '../../support/http-client.ts'

const notes = 'https://notes.example/api'
const search = 'https://search.example/'

test('a request for several resources', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, users } = server
  const user = await users.newSignedInUser()
  const client = await server.newClient()

  /** Starts a request with a parameter for each resource. */
  const start = async (...resources: readonly string[]) => {
    const started = await server.start(client, { scope: 'email' })
    const path = started.answer.headers.get('location') ?? ''
    assert.notEqual(path, '')
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: 'https://client.example/callback',
      scope: 'email',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    })
    for (const resource of resources) query.append('resource', resource)
    return send(url, `/oauth/authorize?${query}`)
  }
  /** Posts a form with a parameter for each resource. */
  const ask = async (fields: Readonly<Record<string, string>>, resources: readonly string[]) => {
    const form = new URLSearchParams(fields)
    for (const resource of resources) form.append('resource', resource)
    const basic = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')
    const { body } = await send(url, '/oauth/token', {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${basic}`,
      },
      body: `${form}`,
    })
    return body
  }
  const signIn = async (resources: readonly string[]) => {
    const { returned, verifier } = await server.approve(client, user, {
      scope: 'email',
      resource: `${notes} ${search}`,
    })
    const { code = '' } = returned
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier }
    return ask(grant, resources)
  }

  await t.test('the parameter can occur several times, and each value is checked', async () => {
    const { authorization_id: id = '' } = queryOf(await start(notes, search, notes))
    const { body } = await server.details(user, id)
    assert.equal(body.resource, `${notes} ${search}`)
    for (const wrong of [
      [notes, 'urn:x'],
      Array.from({ length: 11 }, (_, at) => `${notes}/${at}`),
    ]) {
      assert.equal(queryOf(await start(...wrong))['error'], 'invalid_target')
    }
  })

  await t.test('aud is a list, and each API accepts the token', async () => {
    const { access_token: token } = await signIn([])
    assert.deepEqual(claimsOf(token).aud, [notes, search])
    for (const audience of [notes, search]) {
      const verifier = createVerifier({ authUrl: url, audience, issuer: url })
      assert.equal((await verifier.verify(token)).sub, user.id)
    }
    for (const path of ['/user', '/oauth/userinfo']) {
      const { status } = await send(url, path, { token })
      assert.ok(status === 401 || status === 403, path)
    }
  })

  await t.test('an exchange and a refresh get a token for a part of them', async () => {
    const first = await signIn([search])
    assert.equal(claimsOf(first.access_token).aud, search)
    const refresh = (token: string, resources: readonly string[]) =>
      ask({ grant_type: 'refresh_token', refresh_token: token }, resources)
    const other = await refresh(first.refresh_token, ['https://other.example/'])
    assert.equal(other.error, 'invalid_target')
    const second = await refresh(first.refresh_token, [notes])
    assert.equal(claimsOf(second.access_token).aud, notes)
    const whole = await refresh(second.refresh_token, [])
    assert.deepEqual(claimsOf(whole.access_token).aud, [notes, search])
  })

  await t.test('a consent is remembered for each of them', async () => {
    const isAsked = async (...resources: readonly string[]) => {
      const { authorization_id: id = '' } = queryOf(await start(...resources))
      return (await server.details(user, id)).body.redirect_url === undefined
    }
    assert.equal(await isAsked(notes), false)
    assert.equal(await isAsked(search, notes), false)
    assert.equal(await isAsked(notes, 'https://other.example/'), true)
    const { body: grants } = await send(url, '/user/oauth/grants', { token: user.token })
    assert.deepEqual(grants[0].resources, [notes, search])
  })
})

test('the metadata of an issuer with a path', async (t) => {
  const issuer = 'https://project.example/auth/v1'
  const server = await openAuthorizationServer(t, {
    AUTH_API_EXTERNAL_URL: issuer,
    AUTH_API_PATH_PREFIX: '/auth/v1',
  })
  if (!server) return
  const { url } = server
  for (const path of [
    '/.well-known/oauth-authorization-server/auth/v1',
    '/.well-known/openid-configuration/auth/v1',
    '/auth/v1/.well-known/openid-configuration',
    '/auth/v1/.well-known/oauth-authorization-server',
  ]) {
    const { status, body } = await send(url, path)
    assert.deepEqual([status, body.issuer], [200, issuer], path)
    assert.equal(body.token_endpoint, `${issuer}/oauth/token`)
  }
  for (const path of ['/auth', '/auth/v2', '/auth/v1/x', '/AUTH/v1']) {
    const { status } = await send(url, `/.well-known/oauth-authorization-server${path}`)
    assert.equal(status, 404, path)
  }
})
