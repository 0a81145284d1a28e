import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResourceMetadata, createVerifier, toRefusal } from '../../src/verify/index.ts'
import { requireToken } from '../../src/verify/use/fetch.ts'

const metadata = createResourceMetadata({
  resource: 'https://notes.example/mcp',
  authorizationServers: [new URL('https://auth.example.com/auth/v1')],
  scopes: ['notes:read'],
  name: 'Notes',
})

test('the metadata of an API names its auth servers, below the well-known path', () => {
  assert.equal(metadata.path, '/.well-known/oauth-protected-resource/mcp')
  assert.equal(metadata.url, `https://notes.example${metadata.path}`)
  assert.deepEqual(JSON.parse(metadata.body), {
    resource: 'https://notes.example/mcp',
    authorization_servers: ['https://auth.example.com/auth/v1'],
    bearer_methods_supported: ['header'],
    scopes_supported: ['notes:read'],
    resource_name: 'Notes',
  })
  const root = { resource: 'https://notes.example', authorizationServers: [] }
  assert.equal(createResourceMetadata(root).path, '/.well-known/oauth-protected-resource')
})

test('the metadata of an API says whether tokens must be bound to a key', () => {
  const read = (dpop: 'accepted' | 'required') =>
    JSON.parse(
      createResourceMetadata({ resource: 'https://a.example', authorizationServers: [], dpop })
        .body,
    )
  assert.equal(read('accepted').dpop_bound_access_tokens_required, false)
  const required = read('required')
  assert.equal(required.dpop_bound_access_tokens_required, true)
  assert.ok(required.dpop_signing_alg_values_supported.includes('ES256'))
})

test('a refusal names the metadata, with and without another parameter', async () => {
  const verifier = createVerifier({ secret: 'a secret of at least thirty-two bytes' })
  const handler = requireToken({ verifier, metadata }, () => new Response())
  const challengeOf = async (headers: Readonly<Record<string, string>>) => {
    const response = await handler(new Request('https://notes.example/mcp', { headers }))
    return [response.status, response.headers.get('www-authenticate')]
  }
  const parameter = `resource_metadata="${metadata.url}"`
  assert.deepEqual(await challengeOf({}), [401, `Bearer ${parameter}`])
  assert.deepEqual(await challengeOf({ authorization: 'Bearer x' }), [
    401,
    `Bearer error="invalid_token", ${parameter}`,
  ])
  const error = await verifier.verify('x').catch((reason: unknown) => reason)
  assert.equal(toRefusal(error)?.headers['www-authenticate'], 'Bearer error="invalid_token"')
})

test('a resource that is not a URL is refused', () => {
  for (const resource of ['notes', 'urn:notes', 'https://notes.example/#part']) {
    assert.throws(
      () => createResourceMetadata({ resource, authorizationServers: [] }),
      /"resource" must be the URL of the API/,
    )
  }
})
