import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createHandler } from '@portcullis/graphql-over-http/use/fetch'
import express from 'express'
import { fastify } from 'fastify'
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { Hono } from 'hono'
import { SignJWT } from 'jose'
import { type AccessTokenClaims, createVerifier } from '../../src/verify/index.ts'
import { requireToken as forExpress } from '../../src/verify/use/express.ts'
import { requireToken as forFastify } from '../../src/verify/use/fastify.ts'
import { requireToken as forFetch } from '../../src/verify/use/fetch.ts'
import { requireToken as forGraphql } from '../../src/verify/use/graphql.ts'
import { requireToken as forHono } from '../../src/verify/use/hono.ts'
import { listen } from './listen.ts'

const secret = 'a secret of at least thirty-two bytes'
const options = { verifier: createVerifier({ secret }) }
const down = {
  verifier: createVerifier({ authUrl: 'http://127.0.0.1:1' }),
  warn: false as const,
}

type SendRequest = (authorization?: string) => Promise<Response>
type OpenHost = (t: TestContext, isDown: boolean) => Promise<SendRequest>

const toHeaders = (authorization?: string): Record<string, string> =>
  authorization === undefined ? {} : { authorization }

const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, { claims: AccessTokenClaims | undefined }>({
    name: 'Query',
    fields: { me: { type: GraphQLString, resolve: (_, _args, { claims }) => claims?.sub } },
  }),
})

/** Each host responds to a request with a valid token with the id of the user. */
const hosts: Readonly<Record<string, OpenHost>> = {
  Express: async (t, isDown) => {
    const app = express()
    app.use(forExpress(isDown ? down : options))
    app.get('/', (_request, response) => {
      response.end(response.locals['claims'].sub)
    })
    const url = await listen(t, app)
    return (authorization) => fetch(url, { headers: toHeaders(authorization) })
  },
  Fastify: async (t, isDown) => {
    const app = fastify()
    app.addHook('onRequest', forFastify(isDown ? down : options))
    app.get('/', async (request) => request.claims?.sub)
    t.after(() => app.close())
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return (authorization) => fetch(url, { headers: toHeaders(authorization) })
  },
  Hono: async (_t, isDown) => {
    const app = new Hono<{ Variables: { claims: AccessTokenClaims } }>()
    app.use(forHono(isDown ? down : options))
    app.get('/', (c) => c.text(c.get('claims').sub))
    return async (authorization) =>
      app.request('http://localhost/', { headers: toHeaders(authorization) })
  },
  fetch: async (_t, isDown) => {
    const handle = forFetch(isDown ? down : options, (_request, { sub }) => new Response(sub))
    return (authorization) =>
      handle(new Request('http://localhost/', { headers: toHeaders(authorization) }))
  },
  GraphQL: async (_t, isDown) => {
    const handle = createHandler({ schema, ...forGraphql(isDown ? down : options) })
    return async (authorization) => {
      const response = await handle(
        new Request('http://localhost/graphql?query={me}', {
          headers: { accept: 'application/json', ...toHeaders(authorization) },
        }),
      )
      if (response.status !== 200) return response
      const { data } = (await response.json()) as { data: { me: string } }
      return new Response(data.me)
    }
  },
}

for (const [name, open] of Object.entries(hosts)) {
  test(`${name}: a valid token is accepted, others are refused with the reason`, async (t) => {
    const send = await open(t, false)
    const token = await new SignJWT({ sub: 'ada', aud: 'authenticated' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(secret))
    const fine = await send(`Bearer ${token}`)
    assert.deepEqual([fine.status, await fine.text()], [200, 'ada'])
    for (const [authorization, challenge, reason] of [
      [undefined, 'Bearer', 'missing_token'],
      [`Bearer ${token}x`, 'Bearer error="invalid_token"', 'bad_signature'],
      ['Basic YTpi', 'Bearer error="invalid_token"', 'malformed_token'],
    ] as const) {
      const response = await send(authorization)
      assert.equal(response.status, 401)
      assert.equal(response.headers.get('www-authenticate'), challenge)
      assert.match(await response.text(), new RegExp(reason))
    }
    const unavailable = await (await open(t, true))(
      `Bearer ${Buffer.from('{"alg":"ES256","kid":"1"}').toString('base64url')}.e30.AA`,
    )
    assert.equal(unavailable.status, 503)
    assert.equal(unavailable.headers.get('retry-after'), '1')
    assert.match(await unavailable.text(), /auth_unavailable/)
  })
}

test('if tokens are optional, a missing one is accepted and an invalid one is refused', async () => {
  const handle = forFetch(
    { ...options, isOptional: true },
    (_request, claims) => new Response(claims?.sub ?? 'a guest'),
  )
  assert.equal(await (await handle(new Request('http://localhost/'))).text(), 'a guest')
  const bad = new Request('http://localhost/', { headers: { authorization: 'Bearer x' } })
  assert.equal((await handle(bad)).status, 401)
})

test('invalid options are refused when the adapter is created', () => {
  const { verifier } = options
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /"verifier" must be created by createVerifier/],
    [{ verifer: verifier }, /"verifier" must be created by createVerifier/],
    [{ verifier, isoptional: true }, /no option "isoptional"\. Did you mean isOptional\?/],
    [{ verifier, isOptional: 'false' }, /"isOptional" must be true or false/],
  ]
  for (const requireToken of [forExpress, forFastify, forFetch, forGraphql, forHono]) {
    for (const [given, message] of wrong)
      assert.throws(() => Reflect.apply(requireToken, undefined, [given]), {
        name: 'TypeError',
        message,
      })
  }
})

test('an application can set the body of a refusal', async () => {
  const handle = forFetch(
    { ...options, toBody: ({ status }) => JSON.stringify({ problem: status }) },
    () => new Response(),
  )
  const response = await handle(new Request('http://localhost/'))
  assert.deepEqual([response.status, await response.text()], [401, '{"problem":401}'])
})
