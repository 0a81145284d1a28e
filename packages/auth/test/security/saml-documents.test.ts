import assert from 'node:assert/strict'
import { createHmac, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { ExclusiveCanonicalization } from 'xml-crypto'
import { parseMetadata } from '../../src/saml/identity-provider.ts'
import { parseXml } from '../../src/saml/parse-xml.ts'
import { decodeResponse, type ResponseRules, readResponse } from '../../src/saml/response.ts'
import { wrapSignatures } from '../saml/wrapping.ts'
import { encryptAssertion } from '../support/saml/encrypt.ts'
import {
  createIdentityProvider,
  createKey,
  type ResponseOptions,
  signElement,
} from '../support/saml/identity-provider.ts'

const acsUrl = 'https://auth.example/sso/saml/acs'
const audience = 'https://auth.example/sso/saml/metadata'
const nowMs = Date.parse('2026-01-01T12:00:00Z')
const idp = createIdentityProvider(acsUrl, audience, 'https://idp.example/metadata')
const serverKey = createKey()
const otherKey = createKey()

const rules: ResponseRules = {
  entityId: idp.entityId,
  signingKeys: parseMetadata(idp.metadata()).signingKeys,
  decryptionKeys: [],
  audience,
  recipient: acsUrl,
  requestId: undefined,
  nowMs,
}

const read = (xml: string, changed: Partial<ResponseRules> = {}) =>
  readResponse(decodeResponse(Buffer.from(xml).toString('base64')), { ...rules, ...changed })
const create = (options: Partial<ResponseOptions> = {}) => idp.createResponse({ nowMs, ...options })

function refuses(xml: string, message: RegExp | string, changed: Partial<ResponseRules> = {}) {
  assert.throws(() => read(xml, changed), { name: 'SamlError', message })
}

test('a response with a valid signature is accepted, whatever is signed (property 200)', () => {
  for (const signed of ['assertion', 'response', 'both'] as const) {
    assert.equal(read(create({ signed, nameId: 'victim' })).nameId?.value, 'victim', signed)
  }
})

test('none of the eight forms of signature wrapping signs another user in (property 200)', () => {
  const wrapped = wrapSignatures(idp, nowMs)
  assert.equal(wrapped.length, 8)
  for (const { name, xml } of wrapped) {
    assert.ok(xml.includes('>admin<') && xml.includes('>victim<'), name)
    assert.throws(() => read(xml), { name: 'SamlError' }, name)
  }
})

test('an assertion that was changed after it was signed is refused (property 200)', () => {
  const unknown = 'the signature does not match any key of the identity provider'
  for (const signed of ['assertion', 'response', 'both'] as const) {
    refuses(create({ signed, nameId: 'victim' }).replace('>victim<', '>admin<'), unknown)
  }
  const inner = create({ signed: 'both', nameId: 'victim' })
  refuses(inner.replace(/ID="(_[^"]+)" Version/, 'ID="_other" Version'), /another element/)
})

test('an unsigned response is refused, and so is one with the key of another provider (property 200)', () => {
  refuses(create({ signed: 'nothing' }), 'neither the response nor the assertion is signed')
  const unknown = 'the signature does not match any key of the identity provider'
  refuses(create({ key: otherKey }), unknown)
  refuses(create({ key: otherKey, signed: 'both' }), unknown)
})

test('the certificate in a message is never used (property 200)', () => {
  const signed = create({ key: otherKey })
  const certificate = /<ds:X509Certificate>(.+?)</.exec(
    createIdentityProvider(acsUrl, audience).metadata([otherKey]),
  )?.[1]
  const info = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`
  refuses(signed.replace('</ds:Signature>', `${info}</ds:Signature>`), /does not match any key/)
})

test('weak algorithms and other forms of signatures are refused (property 201)', () => {
  const assertion = idp.createAssertion({ nowMs, id: '_1' })
  const wrap = (signed: string) => create({ signed: 'nothing', wrap: () => signed })
  const sign = (options: object) => wrap(signElement(assertion, '_1', { key: idp.key, ...options }))
  const sha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'
  refuses(sign({ signatureAlgorithm: sha1 }), `the signature uses ${sha1}, which is not allowed`)
  const digest = 'http://www.w3.org/2000/09/xmldsig#sha1'
  refuses(sign({ digestAlgorithm: digest }), `the signature uses ${digest}, which is not allowed`)
  const transforms = ['http://www.w3.org/2001/10/xml-exc-c14n#']
  refuses(sign({ transforms }), /other transforms/)
  const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
  const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
  refuses(sign({ transforms: [enveloped, inclusive] }), /other transforms/)
  refuses(create().replace('<ds:Reference ', '<ds:Reference URI="" x:'), /not well-formed/)
  refuses(create().replace(/URI="#[^"]+"/, 'URI=""'), /another element/)
})

test('the public key cannot be used as the secret of an HMAC (property 201)', () => {
  const hmac = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1'
  const secret = createPublicKey(idp.key).export({ type: 'spki', format: 'pem' })
  const signed = create()
    .replace(/xmldsig-more#rsa-sha256/, 'x')
    .replace(/Algorithm="[^"]+x"/, `Algorithm="${hmac}"`)
  const [info = ''] = /<ds:SignedInfo>[\s\S]+<\/ds:SignedInfo>/.exec(signed) ?? []
  const value = createHmac('sha1', secret).update(info).digest('base64')
  const forged = signed.replace(/<ds:SignatureValue>[^<]+/, `<ds:SignatureValue>${value}`)
  refuses(forged, `the signature uses ${hmac}, which is not allowed`)
})

test('a comment cannot cut a name in two (property 202)', () => {
  const commented = create({ nameId: 'admin@company.example.attacker.example' }).replace(
    'admin@company.example.attacker',
    'admin@company.example<!---->.attacker',
  )
  refuses(commented, 'the document has a comment')
  const instruction = create().replace('>someone<', '><?x?>someone<')
  refuses(instruction, 'the document has a processing instruction')
})

test('names that differ in an invisible character are different (property 202)', () => {
  for (const character of ['\u00a0', '\u2003', '\ufeff']) {
    const nameId = `admin${character}`
    assert.equal(read(create({ nameId })).nameId?.value, nameId)
  }
  assert.equal(read(create({ nameId: ' \t admin\r\n' })).nameId?.value, 'admin')
})

test('entities and document type declarations are refused before anything is expanded (property 202)', () => {
  const laughs = Array.from(
    { length: 9 },
    (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`,
  )
  const cases = [
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE a SYSTEM "http://169.254.169.254/latest/meta-data">',
    `<!DOCTYPE a [<!ENTITY l0 "lol">${laughs.join('')}]>`,
  ]
  for (const declaration of cases) {
    refuses(`${declaration}${create()}`, 'the document has a document type declaration')
    assert.throws(() => parseMetadata(`${declaration}${idp.metadata()}`), {
      message: 'the document has a document type declaration',
    })
  }
  refuses(create().replace('>someone<', '>&x;<'), /not well-formed/)
})

test('large and deep documents are refused without recursion (property 203)', () => {
  const depth = 12_000
  const deep = `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`
  const anyLength = { mostCharacters: 1e9, mostElements: 1e9, allowsComments: true }
  // The parser itself keeps no frame for each level.
  assert.equal(parseXml(deep, { ...anyLength, mostDepth: 1e9 }).name, 'a')
  const options = {
    signed: 'nothing',
    wrap: (text: string) => `${'<a>'.repeat(40)}${text}${'</a>'.repeat(40)}`,
  } as const
  refuses(create(options), 'the document is nested more than 32 levels deep')
  refuses(create({ wrap: (text) => `${text}${'<a/>'.repeat(6_000)}` }), /more than 5000 elements/)
  refuses(create({ wrap: (text) => `${text}${' '.repeat(600_000)}` }), 'the response is too long')
  const attributes = Array.from({ length: 40 }, (_, at) => `a${at}=""`).join(' ')
  refuses(create({ wrap: (text) => `${text}<a ${attributes}/>` }), /more than 32 attributes/)
  refuses(create({ wrap: (text) => `${text}<a ID="1"/><b Id="1"/>` }), /the same ID/)
})

test('an element is not canonicalised before its signature is verified (property 203)', (t) => {
  const [forged, valid] = [create({ key: otherKey }), create()]
  const { mock } = t.mock.method(ExclusiveCanonicalization.prototype, 'process')
  refuses(forged, /does not match any key/)
  assert.equal(mock.callCount(), 1)
  assert.ok(read(valid))
  assert.equal(mock.callCount(), 3)
})

test('namespaces of values can be signed, and then cannot be changed (property 200)', () => {
  const value =
    '<saml:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">Ada'
  const assertion = idp
    .createAssertion({ nowMs, id: '_1', attributes: { name: ['Ada'] } })
    .replace('<saml:AttributeValue>Ada', value)
  const declared = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
  const xml = create({ signed: 'nothing', wrap: () => assertion }).replace(
    '<samlp:Response',
    `$& ${declared}`,
  )
  const prefixes = ['xs', 'unknown']
  const signed = signElement(xml, '_1', { key: idp.key, prefixes })
  assert.match(signed, /PrefixList="xs unknown"/)
  assert.deepEqual(read(signed).attributes[0]?.values, ['Ada'])
  refuses(signed.replace(declared, 'xmlns:xs="urn:other"'), /does not match any key/)
  const many = Array.from({ length: 51 }, (_, at) => `p${at}`)
  refuses(signElement(xml, '_1', { key: idp.key, prefixes: many }), /more than 50 prefixes/)
})

test('an assertion for someone or something else is refused (property 204)', () => {
  const cases = [
    [{ audience: 'https://other.example' }, 'the assertion is for another audience'],
    [{ recipient: 'https://other.example' }, 'the assertion has another recipient'],
    [{ destination: 'https://other.example' }, 'the response has another destination'],
    [{ issuer: 'https://other.example' }, 'the response has another issuer'],
    [{ requestId: 'id-1' }, 'the response answers a request that is not known'],
    [{ status: 'Requester' }, 'the identity provider refused the sign-in with Requester'],
  ] as const
  for (const [options, message] of cases) {
    refuses(create(options), message)
    refuses(create({ ...options, signed: 'both' }), message)
  }
  const requestId = 'id-mine'
  refuses(create({ requestId: 'id-other' }), 'the response answers another request', { requestId })
  refuses(create(), 'the response answers another request', { requestId })
  assert.ok(read(create({ requestId }), { requestId }))
  const parts = create({ requestId, signed: 'assertion' })
  refuses(parts.replace('InResponseTo="id-mine">', '>'), /another request/, { requestId })
  const restricted = idp.createAssertion({ nowMs, id: '_1' }).replace(/<saml:AudienceR.+ction>/, '')
  const free = signElement(restricted, '_1', { key: idp.key })
  refuses(create({ signed: 'nothing', wrap: () => free }), 'the assertion is for another audience')
})

test('clocks may differ by a minute and not by more (property 204)', () => {
  const xml = create({ lifetimeMs: 300_000 })
  const ends = nowMs + 300_000
  assert.ok(read(xml, { nowMs: ends + 59_000 }))
  refuses(xml, 'the assertion has expired', { nowMs: ends + 60_000 })
  const starts = nowMs - 30_000
  assert.ok(read(xml, { nowMs: starts - 60_000 }))
  refuses(xml, 'the assertion is not valid yet', { nowMs: starts - 61_000 })
  const sessionNotAfter = new Date(nowMs)
  refuses(create({ sessionNotAfter }), 'the session at the identity provider has ended')
})

test('an assertion is remembered until its last confirmation has expired (property 207)', () => {
  const confirm = (end: string) =>
    [
      '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">',
      `<saml:SubjectConfirmationData NotOnOrAfter="${end}" Recipient="${acsUrl}"/>`,
      '</saml:SubjectConfirmation>',
    ].join('')
  const later = create({ subject: confirm('2026-01-01T20:00:00Z') })
  // A server whose clock is slow still accepts it a minute after the skew.
  assert.equal(read(later).notAfterMs, Date.parse('2026-01-01T20:02:00Z'))
  const forever = create({ subject: confirm('9999-12-31T23:59:59Z') })
  assert.equal(new Date(read(forever).notAfterMs).getUTCFullYear(), 9999)
})

test('encrypted assertions must be signed, and are not decrypted on demand (property 205)', () => {
  const decryptionKeys = [otherKey, serverKey]
  const encrypt = (options: object) => (text: string) =>
    encryptAssertion(text, { key: serverKey, ...options })
  const gcm = create({ wrap: encrypt({}), nameId: 'victim' })
  assert.equal(read(gcm, { decryptionKeys }).nameId?.value, 'victim')
  refuses(gcm, 'encrypted assertions are not allowed')
  refuses(
    create({ wrap: encrypt({}), signed: 'nothing' }),
    'neither the response nor the assertion is signed',
    { decryptionKeys },
  )
  refuses(create({ wrap: encrypt({ content: 'cbc' }) }), /allowed only in a signed response/, {
    decryptionKeys,
  })
  const cbc = create({ wrap: encrypt({ content: 'cbc' }), signed: 'response', nameId: 'victim' })
  assert.equal(read(cbc, { decryptionKeys }).nameId?.value, 'victim')
  refuses(create({ wrap: encrypt({ transport: 'pkcs1' }) }), /rsa-1_5, which is not allowed/, {
    decryptionKeys,
  })
  refuses(gcm, 'the assertion cannot be decrypted', { decryptionKeys: [otherKey] })
  const broken = gcm.replace(
    /(<xenc:CipherValue>[^<]{400}[^<]*<\/xenc:CipherValue>)(?=<\/xenc:CipherData><\/xenc:EncryptedData>)/,
    (value) => value.replace(/.(?=.{60}<)/, (last) => (last === 'A' ? 'B' : 'A')),
  )
  assert.notEqual(broken, gcm)
  // An operator who can sign a response may have changed the ciphertext of someone else.
  for (const text of ['<saml:Assertion', '<other/>', `<a>${idp.createAssertion({ nowMs })}</a>`]) {
    const wrap = () => encryptAssertion(text, { key: serverKey, content: 'cbc' })
    refuses(create({ wrap, signed: 'response' }), 'the assertion cannot be decrypted', {
      decryptionKeys,
    })
  }
  refuses(broken, 'the assertion cannot be decrypted', { decryptionKeys })
})

test('each key in the metadata may sign while the provider changes it, and no other (property 206)', () => {
  const both = parseMetadata(idp.metadata([otherKey, idp.key])).signingKeys
  assert.ok(read(create(), { signingKeys: both }))
  assert.ok(read(create({ key: otherKey }), { signingKeys: both }))
  refuses(create(), /does not match any key/, {
    signingKeys: parseMetadata(idp.metadata([otherKey])).signingKeys,
  })
})

test('an entity ID that is too long for an index is refused (property 203)', () => {
  const named = (length: number) =>
    idp.metadata().replace(/entityID="[^"]+"/, `entityID="${'e'.repeat(length)}"`)
  assert.equal(parseMetadata(named(1_024)).entityId.length, 1_024)
  assert.throws(() => parseMetadata(named(1_025)), {
    name: 'SamlError',
    message: 'the entityID is longer than 1024 characters',
  })
})
