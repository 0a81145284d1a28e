/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import { createCertificate } from '../../../../src/saml/certificate.ts'
import { fragmentOf, queryOf } from '../../../support/flow-server.ts'
import { send } from '../../../support/http-client.ts'
import { keycloakMissing, openKeycloak } from '../../../support/keycloak.ts'
import { createKey } from '../../../support/saml/identity-provider.ts'
import {
  acsUrl,
  entityId,
  openSsoServer,
  type SsoServer,
} from '../../../support/saml/sso-server.ts'

/** What a realm of Keycloak sent during one sign-in. */
interface Exchange {
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  readonly metadata: string
  readonly requestId: string
  /** In Base64, as it was posted. */
  readonly response: string
}

interface Recording {
  /** The private key of this server, as PEM. */
  readonly serverKey: string
  readonly realms: Readonly<Record<string, Exchange>>
}

const recording = join(import.meta.dirname, 'recorded.json')

/** How Keycloak signs and encrypts, by the name of the realm. */
const realms = {
  signed: {
    'saml.signature.algorithm': 'RSA_SHA256',
    'saml.assertion.signature': 'true',
    'saml.server.signature': 'true',
    saml_name_id_format: 'persistent',
  },
  encrypted: {
    'saml.signature.algorithm': 'RSA_SHA256_MGF1',
    'saml.server.signature': 'true',
    'saml.encrypt': 'true',
    'saml.encryption.algorithm': 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    'saml.encryption.keyAlgorithm': 'http://www.w3.org/2009/xmlenc11#rsa-oaep',
    'saml.encryption.digestMethod': 'http://www.w3.org/2001/04/xmlenc#sha256',
    'saml.encryption.maskGenerationFunction': 'http://www.w3.org/2009/xmlenc11#mgf1sha256',
    saml_name_id_format: 'email',
  },
  response: {
    'saml.signature.algorithm': 'RSA_SHA512',
    'saml.server.signature': 'true',
    'saml.assertion.signature': 'false',
    saml_name_id_format: 'username',
  },
} as const

function toClient(attributes: object, certificate: string) {
  return {
    clientId: entityId,
    protocol: 'saml',
    redirectUris: [acsUrl],
    attributes: {
      // Keycloak verifies the signature of the request.
      'saml.client.signature': 'true',
      'saml.signing.certificate': certificate,
      'saml.encryption.certificate': certificate,
      'saml.force.post.binding': 'true',
      'saml.authnstatement': 'true',
      ...attributes,
    },
    protocolMappers: ['email', 'firstName'].map((name) => ({
      name,
      protocol: 'saml',
      protocolMapper: 'saml-user-property-mapper',
      config: { 'user.attribute': name, 'attribute.name': name, 'attribute.nameformat': 'Basic' },
    })),
  }
}

function openServer(t: TestContext, serverKey: string): Promise<SsoServer | undefined> {
  return openSsoServer(t, {
    AUTH_SAML_PRIVATE_KEY: serverKey.replaceAll('\n', '\\n'),
    AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: 'true',
  })
}

/** The clock of a test server stands still. */
function setTime({ clock }: SsoServer, nowMs: number): void {
  clock.aheadMs += nowMs - clock.now()
}

async function addProvider({ url, serviceToken: token }: SsoServer, metadata: string) {
  const mapping = { keys: { given_name: { name: 'firstName' } } }
  const { status, body } = await send(url, '/admin/sso/providers', {
    token,
    body: { type: 'saml', metadata_xml: metadata, attribute_mapping: mapping },
  })
  assert.equal(status, 201, JSON.stringify(body))
  return `${body.id}`
}

async function checkSignedIn(server: SsoServer, response: string, relayState: string) {
  const answer = await server.postResponse(Buffer.from(response, 'base64').toString(), {
    relayState,
  })
  const { access_token: token } = fragmentOf(answer)
  assert.ok(token, queryOf(answer)['error_description'])
  const { body: user } = await send(server.url, '/user', { token })
  assert.deepEqual([user.email, user.user_metadata.given_name], ['ada@acme.example', 'Ada'])
}

test('users sign in with SAML at a real Keycloak', { skip: keycloakMissing }, async (t) => {
  const key = createKey()
  const serverKey = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  const certificate = createCertificate(key, { host: 'auth.example', isForEncryption: true })
  const keycloak = await openKeycloak(t)
  const server = await openServer(t, serverKey)
  if (!server) return
  const exchanges: Record<string, Exchange> = {}
  for (const [name, attributes] of Object.entries(realms)) {
    const client = toClient(attributes, certificate.toString('base64'))
    const realm = await keycloak.addRealm(name, [client])
    const metadata = await (await fetch(`${realm}/protocol/saml/descriptor`)).text()
    const provider = await addProvider(server, metadata)
    const { url, id: requestId, relayState } = await server.start({ provider_id: provider })
    const form = await keycloak.logInToForm(url)
    const { SAMLResponse: response = '' } = form
    assert.equal(form['RelayState'], relayState)
    const nowMs = Date.now()
    setTime(server, nowMs)
    await checkSignedIn(server, response, relayState)
    exchanges[name] = { nowMs, metadata, requestId, response }
  }
  if (process.env['UPDATE_RECORDING'] === '1') {
    const recorded: Recording = { serverKey, realms: exchanges }
    writeFileSync(recording, `${JSON.stringify(recorded, null, 2)}\n`)
  }
})

test('users sign in with the recorded responses of Keycloak', async (t) => {
  const recorded: Recording = JSON.parse(readFileSync(recording, 'utf8'))
  assert.equal(createPrivateKey(recorded.serverKey).asymmetricKeyType, 'rsa')
  const server = await openServer(t, recorded.serverKey)
  if (!server) return
  assert.deepEqual(Object.keys(recorded.realms), Object.keys(realms))
  for (const { nowMs, metadata, requestId, response } of Object.values(recorded.realms)) {
    setTime(server, nowMs)
    const { relayState } = await server.start({ provider_id: await addProvider(server, metadata) })
    // The ID of a request is random, and the recorded response answers the recorded one.
    await server.query('update flow_states set provider_memo = $2 where id = $1', [
      relayState,
      { request_id: requestId },
    ])
    await checkSignedIn(server, response, relayState)
  }
})
