import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { importJWK, jwtVerify, SignJWT } from 'jose'
import { SettingError } from '../../src/errors.ts'
import { createTokenSigner, TokenError } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'

const secret = 'a secret of at least thirty-two bytes'
const hs = createTokenSigner(createSigningKeys({ secret, keyId: undefined, keys: undefined }))
const now = 1_700_000_000

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  RS512: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
}

function toKeys(alg: keyof typeof pairs, kid = alg as string) {
  const jwk = pairs[alg].privateKey.export({ format: 'jwk' })
  return JSON.stringify([{ ...jwk, kid, alg, key_ops: ['sign', 'verify'] }])
}

for (const alg of Object.keys(pairs) as (keyof typeof pairs)[]) {
  test(`tokens signed with ${alg} are accepted by jose, and vice versa`, async () => {
    const keys = createSigningKeys({ secret, keyId: undefined, keys: toKeys(alg) })
    const signer = createTokenSigner(keys)
    const [published] = keys.publicKeys
    assert.ok(published)
    assert.equal('d' in published, false)
    const publicKey = await importJWK({ ...published, key_ops: ['verify'] }, alg)
    const exp = Math.floor(Date.now() / 1_000) + 60
    const { payload, protectedHeader } = await jwtVerify(signer.sign({ sub: 'x', exp }), publicKey)
    assert.deepEqual([payload['sub'], protectedHeader.kid], ['x', alg])
    const theirs = await new SignJWT({ sub: 'y' })
      .setProtectedHeader({ alg, kid: alg })
      .sign(pairs[alg].privateKey)
    assert.equal(signer.verify(theirs, now)['sub'], 'y')
  })
}

test('the secret is still accepted besides a key set', () => {
  const signer = createTokenSigner(
    createSigningKeys({ secret, keyId: undefined, keys: toKeys('ES256') }),
  )
  assert.equal(signer.verify(hs.sign({ role: 'service_role' }), now)['role'], 'service_role')
})

test('with AUTH_JWT_VALID_METHODS only tokens of these algorithms are accepted', () => {
  const keys = toKeys('ES256')
  const open = (validMethods: readonly string[]) =>
    createTokenSigner(createSigningKeys({ secret, keyId: undefined, keys, validMethods }))
  const [strict, both] = [open(['ES256']), open(['ES256', 'HS256'])]
  const token = hs.sign({ role: 'service_role' })
  assert.equal(both.verify(token, now)['role'], 'service_role')
  assert.throws(() => strict.verify(token, now), {
    name: 'TokenError',
    message: 'token signature is invalid: signing method HS256 is invalid',
  })
  assert.equal(strict.verify(strict.sign({ sub: 'x' }), now)['sub'], 'x')
})

const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const forge = (header: object, claims: object, key: string | Buffer) => {
  const data = `${segment(header)}.${segment(claims)}`
  return `${data}.${createHmac('sha256', key).update(data).digest('base64url')}`
}

test('only a token signed by a key with its own algorithm is accepted', () => {
  const signer = createTokenSigner(
    createSigningKeys({ secret, keyId: undefined, keys: toKeys('RS256', 'rsa') }),
  )
  const publicPem = pairs.RS256.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const good = hs.sign({ sub: 'x' })
  const [head = '', body = '', signature = ''] = good.split('.')
  const bad = {
    'alg none': `${segment({ alg: 'none' })}.${segment({ sub: 'x' })}.`,
    'alg none with a signature': `${segment({ alg: 'none' })}.${segment({})}.eA`,
    'the public key as a secret': forge({ alg: 'HS256', kid: 'rsa' }, { sub: 'x' }, publicPem),
    'another secret': forge({ alg: 'HS256' }, { sub: 'x' }, 'other'),
    'an unknown algorithm': forge({ alg: 'HS512' }, { sub: 'x' }, secret),
    'a prototype key as algorithm': forge({ alg: 'constructor' }, { sub: 'x' }, secret),
    'an asymmetric algorithm without a kid': forge({ alg: 'RS256' }, { sub: 'x' }, secret),
    'a shortened signature': `${head}.${body}.${signature.slice(0, -2)}`,
    'a changed body': `${head}.${segment({ sub: 'y' })}.${signature}`,
    'two segments': `${head}.${body}`,
    'four segments': `${good}.x`,
    'a body that is not an object': `${head}.${segment([])}.${signature}`,
    'an overlong token': `${head}.${'a'.repeat(70_000)}.${signature}`,
    nothing: '',
  }
  for (const [name, token] of Object.entries(bad)) {
    assert.throws(() => signer.verify(token, now), TokenError, name)
  }
})

test('exp and nbf are checked', () => {
  assert.throws(() => hs.verify(hs.sign({ exp: now }), now), /token is expired/)
  assert.throws(() => hs.verify(hs.sign({ exp: 'never' }), now), /token is expired/)
  assert.throws(() => hs.verify(hs.sign({ nbf: now + 1 }), now), /not valid yet/)
  assert.deepEqual(hs.verify(hs.sign({ exp: now + 1, nbf: now }), now), { exp: now + 1, nbf: now })
})

test('an invalid key set is refused with the reason and without the keys', () => {
  const jwk = pairs.ES256.privateKey.export({ format: 'jwk' })
  const signing = { ...jwk, kid: 'a', alg: 'ES256', key_ops: ['sign'] }
  const cases: readonly (readonly [unknown, RegExp])[] = [
    ['x', /must be a JSON array/],
    ['{}', /must be a JSON array/],
    [[], /exactly one key with "sign".*has 0/],
    [[signing, { ...signing, kid: 'b' }], /exactly one key with "sign".*has 2/],
    [[signing, { ...signing, key_ops: ['verify'] }], /two keys with the kid a/],
    [[{ ...signing, kid: undefined }], /key 1 has no kid/],
    [[{ ...signing, alg: 'none' }], /the alg of key 1 must be one of/],
    [[{ ...signing, alg: 'RS256' }], /does not match its alg RS256/],
    [[{ ...signing, x: 'AA' }], /key 1 \(kid a\) is not a valid EC key/],
  ]
  for (const [keys, message] of cases) {
    const text = typeof keys === 'string' ? keys : JSON.stringify(keys)
    assert.throws(
      () => createSigningKeys({ secret, keyId: undefined, keys: text }),
      (error) => {
        assert.ok(error instanceof SettingError)
        assert.match(error.message, message)
        assert.ok(!error.message.includes(`${jwk.d}`))
        return true
      },
    )
  }
})
