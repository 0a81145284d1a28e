import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { createVerifiedTokens } from '../../src/tokens/verified-tokens.ts'

const now = 1_700_000_000

function openSigner(secret: string, issuers?: readonly string[]) {
  const added: string[] = []
  const tokens = createVerifiedTokens<object>()
  const keys = createSigningKeys({ secret, keyId: undefined, keys: undefined })
  const signer = createTokenSigner(keys, issuers, {
    get: (token) => tokens.get(token) as never,
    add(token, claims) {
      added.push(token)
      tokens.add(token, claims)
    },
  })
  return { signer, tokens, added }
}

test('a verified token is remembered, but its times are checked again', () => {
  const { signer, tokens } = openSigner('a secret of at least thirty-two bytes')
  const token = signer.sign({ sub: 'x', exp: now + 60 })
  const claims = signer.verify(token, now)
  assert.equal(tokens.get(token), claims)
  assert.equal(signer.verify(token, now + 59), claims)
  assert.throws(() => signer.verify(token, now + 60), /token is expired/)
})

test('a refused token is not remembered', () => {
  const { signer, added } = openSigner('a secret of at least thirty-two bytes', ['us'])
  const other = openSigner('another secret, as long as the first one')
  const refused = {
    'signature is invalid': other.signer.sign({ sub: 'x' }),
    'token is expired': signer.sign({ sub: 'x', exp: now }),
    'token has invalid issuer': signer.sign({ iss: 'them' }),
  }
  for (const [reason, token] of Object.entries(refused)) {
    for (let attempt = 0; attempt < 2; attempt++) {
      assert.throws(() => signer.verify(token, now), new RegExp(reason))
    }
  }
  assert.deepEqual(added, [])
})

test('the number and the length of remembered tokens are limited', () => {
  const tokens = createVerifiedTokens<number>()
  for (let n = 0; n < 1_001; n++) tokens.add(`token ${n}`, n)
  tokens.add('x'.repeat(4_097), 7)
  assert.equal(tokens.get('token 0'), undefined)
  assert.equal(tokens.get('token 1'), 1)
  assert.equal(tokens.get('token 1000'), 1_000)
  assert.equal(tokens.get('x'.repeat(4_097)), undefined)
})
