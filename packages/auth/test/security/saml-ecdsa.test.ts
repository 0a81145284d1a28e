import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { parseMetadata } from '../../src/saml/identity-provider.ts'
import { decodeResponse, readResponse } from '../../src/saml/response.ts'
import {
  createEcKey,
  createIdentityProvider,
  type ResponseOptions,
  type SignatureOptions,
  signElement,
} from '../support/saml/identity-provider.ts'

const acsUrl = 'https://auth.example/sso/saml/acs'
const audience = 'https://auth.example/sso/saml/metadata'
const nowMs = Date.parse('2026-01-01T12:00:00Z')
const idp = createIdentityProvider(acsUrl, audience)
const keysOf = (...keys: readonly KeyObject[]) => parseMetadata(idp.metadata(keys)).signingKeys
const create = (options: Partial<ResponseOptions> = {}) => idp.createResponse({ nowMs, ...options })

interface Trust {
  readonly signingKeys: readonly KeyObject[]
}

const read = (xml: string, { signingKeys }: Trust = { signingKeys: keysOf(idp.key) }) =>
  readResponse(decodeResponse(Buffer.from(xml).toString('base64')), {
    entityId: idp.entityId,
    signingKeys,
    decryptionKeys: [],
    audience,
    recipient: acsUrl,
    requestId: undefined,
    nowMs,
  })

function refuses(xml: string, message: string, trust?: Trust) {
  assert.throws(() => read(xml, trust), { name: 'SamlError', message })
}

test('ECDSA signatures are verified, and only with keys of their type (property 201)', () => {
  const assertion = idp.createAssertion({ nowMs, id: '_1' })
  const sign = (options: SignatureOptions) =>
    create({ signed: 'nothing', wrap: () => signElement(assertion, '_1', options) })
  const name = (bits: number) => `http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha${bits}`
  for (const [curve, bits] of [
    ['P-256', 256],
    ['P-384', 384],
    ['P-521', 512],
  ] as const) {
    const key = createEcKey(curve)
    // The metadata also has a key of the other type, as while a provider changes its key.
    const signingKeys = keysOf(idp.key, key)
    const xml = sign({ key, signatureAlgorithm: name(bits) })
    assert.equal(read(xml, { signingKeys }).nameId?.value, 'someone', curve)
    assert.ok(read(create({ key, signed: 'both' }), { signingKeys }), curve)
    assert.ok(read(create(), { signingKeys }), curve)
    const unknown = 'the signature does not match any key of the identity provider'
    refuses(xml, unknown)
    refuses(xml, unknown, { signingKeys: keysOf(createEcKey(curve)) })
    refuses(xml.replace('>someone<', '>admin<'), unknown, { signingKeys })
    const encoded = { key, signatureAlgorithm: name(bits), dsaEncoding: 'der' } as const
    refuses(sign(encoded), unknown, { signingKeys })
    // The method says RSA, and the key and the value are those of ECDSA.
    const renamed = sign(encoded).replace(name(bits), name(bits).replace('ecdsa', 'rsa'))
    refuses(renamed, unknown, { signingKeys })
  }
  const sha1 = `${name(256).slice(0, -3)}1`
  refuses(
    sign({ key: idp.key }).replace(/[^"]+rsa-sha256/, sha1),
    `the signature uses ${sha1}, which is not allowed`,
  )
  const message =
    'the keys in the metadata must be RSA with at least 2048 bits, or EC with the curve P-256, P-384 or P-521'
  assert.throws(() => keysOf(createEcKey('secp256k1')), { name: 'SamlError', message })
})
