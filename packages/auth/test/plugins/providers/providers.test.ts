/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  providerIds,
  providers,
  specifiedProviderIds,
} from '../../../src/plugins/providers/index.ts'
import { isTrusted } from '../../../src/plugins/providers/oauth/profile-parts.ts'
import type { ProviderDefinition } from '../../../src/plugins/providers/oauth/provider.ts'
import { type ExternalServer, openExternalServer } from '../../support/external-server.ts'
import { fragmentOf } from '../../support/flow-server.ts'
import { type HttpAnswer, send } from '../../support/http-client.ts'
import { denial, type Failure, type OAuthServer } from '../../support/oauth-server.ts'
import type { Account, ShapeExample } from '../../support/provider-shape.ts'
import { providerShapes } from '../../support/provider-shapes/index.ts'

test('every provider has a recorded response shape, and every shape has a provider', () => {
  const further = providerIds.filter((id) => !specifiedProviderIds.includes(id))
  assert.deepEqual(providerIds, [...specifiedProviderIds.toSorted(), ...further.toSorted()])
  assert.deepEqual(
    providerShapes.map(({ id }) => id),
    [...providerIds],
  )
})

const definitions: Readonly<Record<string, ProviderDefinition>> = providers

test('only the email addresses of these providers are trusted', () => {
  const trusted = Object.entries(definitions).filter(([, { trustsEmails }]) => trustsEmails)
  assert.deepEqual(
    trusted.map(([id]) => id),
    [
      ...['apple', 'azure', 'facebook', 'figma', 'linkedin', 'notion', 'slack', 'twitch'],
      ...['twitter', 'workos', 'fly', 'vercel_marketplace', 'x'],
    ],
  )
  assert.deepEqual([isTrusted(true), isTrusted(true, 'false')], [true, false])
  assert.deepEqual([isTrusted(false), isTrusted(false, true)], [false, true])
})

/** Checks that every provider has to pass. */
const contract: Readonly<Record<string, (server: ExternalServer, id: string) => Promise<void>>> = {
  'requests the expected scopes and parameters': checkAuthorizeUrl,
  'signs a user in and stores the profile as an identity': signIn,
  "returns the provider's token if scopes were requested": giveToken,
  'requires confirmation of an unverified address, unless its addresses are trusted': confirmFirst,
  'refuses a profile without an email address': refuseWithoutEmail,
  'reports a failed code exchange': failExchange,
  'reports a missing profile': failProfile,
  'reports that the user has denied access': forwardDenial,
}

test('all providers fulfil the same contract', async (t) => {
  const server = await openExternalServer(t, providerIds)
  if (!server) return
  for (const id of providerIds) {
    for (const [name, check] of Object.entries(contract)) {
      await t.test(`${id} ${name}`, () => check(server, id))
    }
  }
})

async function checkAuthorizeUrl(server: ExternalServer, id: string): Promise<void> {
  const { shape, url: base, clientId } = server.at(id)
  const query = { provider: id, ...shape.query, login_hint: 'ada', scopes: 'one,two' }
  const { answer, url } = await server.startFlow(query)
  assert.equal(answer.status, 302)
  assert.equal(`${url.origin}${url.pathname}`, `${base}${shape.authorizePath}`)
  const { searchParams } = url
  assert.equal(searchParams.get('login_hint'), 'ada')
  for (const [name, value] of Object.entries(shape.parameters ?? {})) {
    assert.equal(searchParams.get(name), value, name)
  }
  if (shape.requestTokenPath !== undefined) return
  const more = shape.hasFixedScopes ? [] : ['one', 'two']
  assert.equal(searchParams.get('scope') ?? '', [...shape.scopes, ...more].join(' '))
  assert.deepEqual(
    [searchParams.get('client_id'), searchParams.get('response_type')],
    [clientId, 'code'],
  )
}

async function signIn(server: ExternalServer, id: string): Promise<void> {
  const provider = server.at(id)
  const { account, identityData } = provider.shape.example
  const refusals = provider.refusals.length
  const answer = await signInWith(server, id, account)
  assert.deepEqual(provider.refusals.slice(refusals), [])
  const fragment = fragmentOf(answer)
  assert.equal(answer.status, 302)
  const identity = await findIdentity(server, id, `${identityData['sub']}`)
  assert.deepEqual(withNames(identity.identity_data, provider.url), identityData)
  const [user] = await server.query('select * from users where id = $1', [identity.user_id])
  assert.equal(user.email, identityData['email'])
  assert.equal(user.email_confirmed_at !== null, identityData['email_verified'])
  assert.deepEqual(user.raw_app_meta_data, { provider: id, providers: [id] })
  assert.equal(user.raw_user_meta_data.full_name, identityData['full_name'])
  assert.equal(fragment['provider_token'], undefined)
  if (!identityData['email_verified']) return
  assert.equal(fragment['provider'], id)
  const { body } = await send(server.url, '/user', { token: fragment['access_token'] ?? '' })
  assert.deepEqual([body.id, body.email], [user.id, identityData['email']])
}

async function giveToken(server: ExternalServer, id: string): Promise<void> {
  const { shape } = server.at(id)
  const { account, identityData } = shape.example
  const identity = await findIdentity(server, id, `${identityData['sub']}`)
  await server.query('update users set email_confirmed_at = now() where id = $1', [
    identity.user_id,
  ])
  const fragment = fragmentOf(await signInWith(server, id, account, { scopes: 'one' }))
  assert.match(fragment['provider_token'] ?? '', /^access /)
}

async function confirmFirst(server: ExternalServer, id: string): Promise<void> {
  const { account, unverified } = server.at(id).shape.example
  const assumed = definitions[id]?.trustsEmails
  if (unverified === undefined) return assert.equal(assumed, true)
  const fragment = fragmentOf(await signInWith(server, id, { ...account, ...unverified }))
  assert.deepEqual(
    [fragment['error_code'], fragment['error_description']],
    [
      'provider_email_needs_verification',
      `Unverified email with ${id}. A confirmation email has been sent to your ${id} email`,
    ],
  )
}

async function refuseWithoutEmail(server: ExternalServer, id: string): Promise<void> {
  const message = 'Error getting user email from external provider'
  await assertFails(server, id, toAccount(server.at(id), 'withoutEmail'), message)
}

async function failExchange(server: ExternalServer, id: string): Promise<void> {
  const message = /^Unable to exchange external code: [\da-f]{4}$/
  const { account } = server.at(id).shape.example
  await withFailure(server.at(id), 'token endpoint fails', () =>
    assertFails(server, id, account, message),
  )
}

async function failProfile(server: ExternalServer, id: string): Promise<void> {
  const provider = server.at(id)
  const message = 'Error getting user profile from external provider'
  await assertFails(server, id, toAccount(provider, 'withoutId'), message)
  const { api, example, idToken } = provider.shape
  if (Object.keys(api).length === 0 || idToken !== undefined) return
  await withFailure(provider, 'API fails', () => assertFails(server, id, example.account, message))
}

async function forwardDenial(server: ExternalServer, id: string): Promise<void> {
  const { shape } = server.at(id)
  const expected: Readonly<Record<string, string>> = shape.denial ?? denial
  await withFailure(server.at(id), 'deny', async () => {
    const fragment = fragmentOf(await signInWith(server, id, shape.example.account))
    assert.deepEqual(
      [fragment['error'], fragment['error_description'], fragment['access_token']],
      [expected['error'], expected['error_description'] ?? '', undefined],
    )
  })
}

function signInWith(
  server: ExternalServer,
  id: string,
  account: Account,
  query: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  return server.signInWith(id, account, { ...server.at(id).shape.query, ...query })
}

function toAccount({ shape }: OAuthServer, kind: 'withoutEmail' | 'withoutId'): Account {
  const example: ShapeExample = shape.example
  return { ...example.account, ...example[kind] }
}

async function withFailure(
  provider: OAuthServer,
  failure: Failure,
  run: () => Promise<void>,
): Promise<void> {
  provider.failure = failure
  await run().finally(() => {
    provider.failure = undefined
  })
}

async function assertFails(
  server: ExternalServer,
  id: string,
  account: Account,
  message: string | RegExp,
): Promise<void> {
  const fragment = fragmentOf(await signInWith(server, id, account))
  assert.deepEqual(
    [fragment['error'], fragment['error_code']],
    ['server_error', 'unexpected_failure'],
  )
  const { error_description: text = '' } = fragment
  if (typeof message === 'string') assert.equal(text, message)
  else assert.match(text, message)
}

async function findIdentity(server: ExternalServer, id: string, providerId: string) {
  const [identity] = await server.query(
    'select * from identities where provider = $1 and provider_id = $2',
    [id, providerId],
  )
  assert.ok(identity, `${id} has no identity ${providerId}`)
  return identity
}

/** The URL of the test server varies, so it is replaced by a fixed name. */
function withNames(data: Readonly<Record<string, unknown>>, url: string): object {
  if (typeof data['iss'] !== 'string' || !data['iss'].startsWith(url)) return data
  return { ...data, iss: data['iss'] === url ? 'URL' : 'API' }
}
