import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { parseMetadata } from '../../../src/saml/identity-provider.ts'
import { decodeResponse, readResponse } from '../../../src/saml/response.ts'
import {
  createMetadata,
  createServiceProvider,
  createSignInRequest,
  nameIdFormats,
} from '../../../src/saml/service-provider.ts'

/** What an identity provider that runs pysaml2 sent. */
interface Exchange {
  readonly recordedAt: string
  /** The private key of this server, as PEM. */
  readonly serverKey: string
  /** Found in the request, whose signature pysaml2 has verified. */
  readonly requestId: string
  readonly metadata: string
  readonly assertionSigned: string
  readonly bothSigned: string
  readonly encrypted: string
}

function checkExchange(exchange: Exchange): void {
  const identityProvider = parseMetadata(exchange.metadata)
  assert.equal(identityProvider.signInUrl, 'https://pysaml2.example/sso')
  const read = (response: string) =>
    readResponse(decodeResponse(Buffer.from(response).toString('base64')), {
      entityId: identityProvider.entityId,
      signingKeys: identityProvider.signingKeys,
      decryptionKeys: [createPrivateKey(exchange.serverKey)],
      audience: 'https://auth.example/sso/saml/metadata',
      recipient: 'https://auth.example/sso/saml/acs',
      requestId: exchange.requestId,
      nowMs: Date.parse(exchange.recordedAt),
    })
  for (const response of [exchange.assertionSigned, exchange.bothSigned]) {
    const assertion = read(response)
    assert.deepEqual(assertion.nameId, {
      value: 'ada-persistent',
      format: nameIdFormats.persistent,
    })
    const names = assertion.attributes.map(({ friendlyName, values }) => [friendlyName, ...values])
    assert.deepEqual(names.toSorted(), [
      ['displayName', 'Ada Lovelace'],
      ['mail', 'ada@company.example'],
    ])
  }
  // By default, pysaml2 encrypts with Triple DES.
  assert.throws(() => read(exchange.encrypted), {
    message:
      'the assertion is encrypted with http://www.w3.org/2001/04/xmlenc#tripledes-cbc, which is not allowed',
  })
}

test('the recorded responses of pysaml2 are accepted', () => {
  const path = join(import.meta.dirname, 'recorded.json')
  checkExchange(JSON.parse(readFileSync(path, 'utf8')))
})

/** A Python with pysaml2, beside which xmlsec1 is installed. */
const python = process.env['SAML_PYSAML2_PYTHON']

test('pysaml2 accepts a request of this server, and its responses are accepted', {
  skip: python === undefined && 'SAML_PYSAML2_PYTHON does not name a Python with pysaml2',
}, () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  checkExchange(exchangeWith(python ?? '', privateKey))
})

function exchangeWith(program: string, privateKey: KeyObject): Exchange {
  const serviceProvider = createServiceProvider({
    externalUrl: 'https://auth.example',
    privateKey,
    nextPrivateKey: undefined,
    allowsEncryption: true,
  })
  const now = new Date()
  const { url } = createSignInRequest(serviceProvider, {
    signInUrl: 'https://pysaml2.example/sso',
    relayState: 'state',
    nameIdFormat: nameIdFormats.persistent,
    now,
  })
  const input = { metadata: createMetadata(serviceProvider), url, xmlsec: '/usr/bin/xmlsec1' }
  const { status, stdout, stderr } = spawnSync(
    program,
    [join(import.meta.dirname, 'identity-provider.py')],
    { input: JSON.stringify(input), encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  const serverKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { recordedAt: now.toISOString(), serverKey, ...JSON.parse(stdout) }
}
