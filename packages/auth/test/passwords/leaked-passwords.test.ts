/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { errorOf } from '../support/flow-server.ts'
import { newEmail, password, type RequestOptions, send } from '../support/http-client.ts'
import { openLeakService, toDigits } from '../support/leak-service.ts'

const leaked = 'password123'

test('leaked passwords are refused, and reported at sign-in', async (t) => {
  const service = await openLeakService(t)
  service.leak(leaked)
  const server = await openAuthServer(t, {
    env: { AUTH_PASSWORD_HIBP_ENABLED: 'true', AUTH_PASSWORD_HIBP_USER_AGENT: 'Site/1' },
    checkers: { leaksUrl: service.url },
  })
  if (!server) return
  const { url, serviceToken } = server
  const message = 'Password is known to be weak and easy to guess, please choose a different one.'
  const logIn = (email: string, secret: string) =>
    send(url, '/token?grant_type=password', { body: { email, password: secret } })

  const email = newEmail()
  const { body: person } = await send(url, '/signup', { body: { email, password } })
  assert.ok(person.access_token, 'a password that has not leaked is accepted')
  assert.deepEqual(service.ranges, [toDigits(password).slice(0, 5)])

  await t.test('wherever a password is set', async () => {
    type Choice = Omit<RequestOptions, 'body'> & { readonly path: string; readonly body?: object }
    const choices: Readonly<Record<string, Choice>> = {
      'POST /signup': { path: '/signup', body: { email: newEmail() } },
      'PUT /user': { path: '/user', method: 'PUT', token: person.access_token },
      'PUT /admin/users': {
        path: `/admin/users/${person.user.id}`,
        method: 'PUT',
        token: serviceToken,
      },
      'POST /admin/generate_link': {
        path: '/admin/generate_link',
        body: { type: 'signup', email: newEmail() },
        token: serviceToken,
      },
      'POST /verify': { path: '/verify', body: { type: 'invite', token: 'x' } },
    }
    for (const [name, { path, body = {}, ...rest }] of Object.entries(choices)) {
      const answer = await send(url, path, { body: { ...body, password: leaked }, ...rest })
      assert.deepEqual(errorOf(answer), [422, 'weak_password', message], name)
      assert.deepEqual(answer.body.weak_password, { reasons: ['pwned'] }, name)
    }
    assert.equal((await logIn(email, password)).status, 200, 'nothing has changed')
  })

  await t.test('together with other reasons', async () => {
    service.leak('123')
    const { body } = await send(url, '/signup', { body: { email: newEmail(), password: '123' } })
    assert.deepEqual(body.weak_password, { reasons: ['length', 'pwned'] })
  })

  await t.test('a sign-in with a leaked password works, with a warning', async () => {
    const { body: before } = await logIn(email, password)
    assert.equal(before.weak_password, undefined)
    service.leak(password)
    server.clock.aheadMs += 3_600_000
    let { status, body } = await logIn(email, password)
    // A sign-in waits at most a second for the service; a later one finds the result in the cache.
    for (let tries = 0; tries < 10 && body.weak_password === undefined; tries += 1) {
      ;({ status, body } = await logIn(email, password))
    }
    assert.equal(status, 200)
    assert.deepEqual(body.weak_password, { message, reasons: ['pwned'] })
    assert.ok(body.access_token)
    const rangeCount = service.ranges.length
    await logIn(email, 'wrong')
    assert.equal(service.ranges.length, rangeCount, 'a wrong password is not looked up')
  })

  await t.test('if the service does not respond, passwords are accepted', async () => {
    service.failure = 'broken'
    const body = { email: newEmail(), password: 'another of theirs' }
    assert.equal((await send(url, '/signup', { body })).status, 200)
    assert.match(server.log.join('\n'), /not be checked for leaks: 127\.0\.0\.1:\d+ responded with/)
  })

  assert.deepEqual(service.faults, [])
})

test('with fail-closed, a password that could not be checked is refused', async (t) => {
  const service = await openLeakService(t)
  service.failure = 'broken'
  const server = await openAuthServer(t, {
    env: { AUTH_PASSWORD_HIBP_ENABLED: 'true', AUTH_PASSWORD_HIBP_FAIL_CLOSED: 'true' },
    checkers: { leaksUrl: service.url },
  })
  if (!server) return
  const email = newEmail()
  const body = { email, password }
  const refused = await send(server.url, '/signup', { body })
  assert.deepEqual(errorOf(refused), [
    500,
    'unexpected_failure',
    'Unable to perform password strength check with HaveIBeenPwned.org.',
  ])
  assert.doesNotMatch(server.log.join('\n'), new RegExp(password))

  await t.test('sign-ins still succeed, even if the service is slow', async () => {
    service.failure = undefined
    assert.equal((await send(server.url, '/signup', { body })).status, 200)
    for (const failure of ['broken', 'never responds'] as const) {
      service.failure = failure
      server.clock.aheadMs += 3_600_000
      const login = await send(server.url, '/token?grant_type=password', { body })
      assert.deepEqual([login.status, login.body.weak_password], [200, undefined], failure)
    }
  })
})

test('the leak service is not used by default', async (t) => {
  const service = await openLeakService(t)
  service.leak(leaked)
  const server = await openAuthServer(t, { checkers: { leaksUrl: service.url } })
  if (!server) return
  const body = { email: newEmail(), password: leaked }
  assert.equal((await send(server.url, '/signup', { body })).status, 200)
  assert.deepEqual(service.ranges, [])
})
