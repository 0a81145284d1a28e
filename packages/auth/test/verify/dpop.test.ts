import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createHandler } from '@portcullis/graphql-over-http/use/fetch'
import express from 'express'
import { fastify } from 'fastify'
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { Hono } from 'hono'
import { SignJWT } from 'jose'
import {
  type AccessTokenClaims,
  createVerifier,
  type ReceivedRequest,
  TokenError,
  toRefusal,
} from '../../src/verify/index.ts'
import { requireToken as forExpress } from '../../src/verify/use/express.ts'
import { requireToken as forFastify } from '../../src/verify/use/fastify.ts'
import { requireToken as forFetch } from '../../src/verify/use/fetch.ts'
import { requireToken as forGraphql } from '../../src/verify/use/graphql.ts'
import { requireToken as forHono } from '../../src/verify/use/hono.ts'
import { createProofKey, toAth } from '../support/dpop.ts'
import { listen } from './listen.ts'

const secret = 'a secret of at least thirty-two bytes'
const api = 'https://api.example/v1'
const key = await createProofKey()
const thief = await createProofKey()

const sign = (claims: object = { cnf: { jkt: key.thumbprint } }) =>
  new SignJWT({ sub: 'ada', aud: 'authenticated', ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret))
const token = await sign()
const prove = (claims: object = {}, by = key) =>
  by.prove('GET', `${api}/notes`, { ath: toAth(token), ...claims })

const codeOf = async (run: Promise<unknown>): Promise<string> => {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) return 'accepted'
  assert.ok(error instanceof TokenError, String(error))
  return error.code
}

test('a token that is bound to a key needs a proof of that key', async () => {
  const verifier = createVerifier({ secret, dpop: { url: `${api}/` } })
  const verify = async (change: Partial<ReceivedRequest> = {}) =>
    codeOf(
      verifier.verifyRequest({
        authorization: `DPoP ${token}`,
        dpop: await prove(),
        method: 'GET',
        url: '/notes?page=2',
        ...change,
      }),
    )
  assert.equal(await verify(), 'accepted')
  assert.equal(await verify({ url: 'http://internal:8080/notes' }), 'accepted')
  assert.equal(await verify({ authorization: `Bearer ${await sign({})}` }), 'accepted')
  const cases: Readonly<Record<string, readonly [string, Partial<ReceivedRequest>]>> = {
    'as Bearer': ['missing_proof', { authorization: `Bearer ${token}` }],
    'without a proof': ['missing_proof', { dpop: undefined }],
    'with an unbound token': ['bad_proof', { authorization: `DPoP ${await sign({})}` }],
    'with another method': ['bad_proof', { method: 'POST' }],
    'without a method': ['bad_proof', { method: undefined }],
    'with another path': ['bad_proof', { url: '/other' }],
    'without a path': ['bad_proof', { url: undefined }],
    'of another key': ['bad_proof', { dpop: await prove({}, thief) }],
    'for another token': ['bad_proof', { dpop: await prove({ ath: toAth('x') }) }],
    'for another host': [
      'bad_proof',
      { dpop: await prove({ htu: 'https://other.example/notes' }) },
    ],
    'that is old': [
      'bad_proof',
      { dpop: await prove({ iat: Math.floor(Date.now() / 1_000) - 61 }) },
    ],
    'that is not a JWT': ['bad_proof', { dpop: 'x' }],
    'a confirmation of another kind': [
      'missing_proof',
      { authorization: `Bearer ${await sign({ cnf: { 'x5t#S256': 'x' } })}` },
    ],
  }
  for (const [name, [code, change]] of Object.entries(cases)) {
    assert.equal(await verify(change), code, name)
  }
})

test('without the option, tokens that are bound to a key are refused', async () => {
  const verifier = createVerifier({ secret })
  assert.equal(await codeOf(verifier.verify(token)), 'missing_proof')
  assert.equal(await codeOf(verifier.verifyHeader(`Bearer ${token}`)), 'missing_proof')
  const request = {
    authorization: `DPoP ${token}`,
    dpop: await prove(),
    method: 'GET',
    url: '/notes',
  }
  assert.equal(await codeOf(verifier.verifyRequest(request)), 'malformed_token')
})

test('a proof is accepted once, by the memory of the process or a shared one', async () => {
  let nowMs = Date.now()
  const used = new Set<string>()
  const shared = (id: string) => !used.has(id) && used.add(id) !== undefined
  const request = {
    authorization: `DPoP ${token}`,
    dpop: await prove(),
    method: 'GET',
    url: '/notes',
  }
  const own = createVerifier({ secret, dpop: { url: api }, now: () => nowMs })
  assert.equal(await codeOf(own.verifyRequest(request)), 'accepted')
  assert.equal(await codeOf(own.verifyRequest(request)), 'bad_proof')
  nowMs += 61_000
  assert.equal(await codeOf(own.verifyRequest(request)), 'bad_proof', 'too old to be forgotten')
  const [one, other] = [1, 2].map(() =>
    createVerifier({ secret, dpop: { url: api, claim: shared } }),
  )
  assert.ok(one && other)
  assert.equal(await codeOf(one.verifyRequest(request)), 'accepted')
  assert.equal(await codeOf(other.verifyRequest(request)), 'bad_proof')
})

test('a refusal tells the client how to prove its key', async () => {
  const challengeOf = (code: 'missing_proof' | 'bad_proof') =>
    toRefusal(new TokenError(code, 'no'), { url: 'https://api.example/metadata' })
  const { status, headers } = challengeOf('bad_proof') ?? {}
  assert.equal(status, 401)
  assert.match(
    headers?.['www-authenticate'] ?? '',
    /^DPoP error="invalid_dpop_proof", algs="ES256 [^"]+", resource_metadata="https:/,
  )
  assert.match(
    challengeOf('missing_proof')?.headers['www-authenticate'] ?? '',
    /^DPoP error="invalid_token"/,
  )
})

test('invalid options are refused', () => {
  for (const dpop of [
    {},
    { url: 'api.example' },
    { url: api, maxAgeSeconds: 0 },
    { url: api, claim: true },
    { url: api, clam: () => true },
  ]) {
    assert.throws(() => createVerifier({ secret, dpop } as never), TypeError, JSON.stringify(dpop))
  }
})

const options = { verifier: createVerifier({ secret, dpop: { url: api } }) }
const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, { claims: AccessTokenClaims | undefined }>({
    name: 'Query',
    fields: { me: { type: GraphQLString, resolve: (_, _args, { claims }) => claims?.sub } },
  }),
})

type Send = (headers: Readonly<Record<string, string>>) => Promise<Response>

/** Each host responds to `GET /notes` with the id of the user. */
const hosts: Readonly<Record<string, (t: TestContext) => Promise<Send>>> = {
  Express: async (t) => {
    const app = express()
    app.use('/notes', forExpress(options), (_request, response) => {
      response.end(Object(response.locals['claims']).sub)
    })
    const url = await listen(t, app)
    return (headers) => fetch(`${url}/notes`, { headers })
  },
  Fastify: async (t) => {
    const app = fastify()
    app.addHook('onRequest', forFastify(options))
    app.get('/notes', async (request) => request.claims?.sub)
    t.after(() => app.close())
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return (headers) => fetch(`${url}/notes`, { headers })
  },
  Hono: async () => {
    const app = new Hono<{ Variables: { claims: AccessTokenClaims } }>()
    app.use(forHono(options))
    app.get('/notes', (c) => c.text(c.get('claims').sub))
    return async (headers) => app.request('http://localhost/notes', { headers })
  },
  fetch: async () => {
    const handle = forFetch(options, (_request, { sub }) => new Response(sub))
    return (headers) => handle(new Request('http://localhost/notes', { headers }))
  },
  GraphQL: async () => {
    const handle = createHandler({ schema, ...forGraphql(options) })
    return async (headers) => {
      const url = 'http://localhost/notes?query={me}'
      const response = await handle(
        new Request(url, { headers: { accept: 'application/json', ...headers } }),
      )
      if (response.status !== 200) return response
      const { data } = (await response.json()) as { data: { me: string } }
      return new Response(data.me)
    }
  },
}

for (const [name, open] of Object.entries(hosts)) {
  test(`${name}: a token that is bound to a key is accepted with its proof only`, async (t) => {
    const send = await open(t)
    const authorization = `DPoP ${token}`
    const fine = await send({ authorization, dpop: await prove() })
    assert.deepEqual([fine.status, await fine.text()], [200, 'ada'])
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { authorization, dpop: await prove({}, thief) },
      { authorization, dpop: await prove({ htm: 'POST' }) },
      { authorization, dpop: await prove({ htu: 'http://localhost/notes' }) },
    ]) {
      const refused = await send(headers)
      assert.equal(refused.status, 401)
      assert.match(refused.headers.get('www-authenticate') ?? '', /^DPoP error=/)
    }
  })
}
