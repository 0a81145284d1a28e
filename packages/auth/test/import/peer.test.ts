/**
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { runCommand } from '../support/auth-command.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { keyIdOf } from '../support/encryption-keys.ts'
import { claimsOf } from '../support/factors.ts'
import { type HttpAnswer, newEmail, sdk, send } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { newAuthenticator, passkeyEnvironment } from '../support/passkeys.ts'
import { keycloak } from '../support/provider-shapes/keycloak.ts'
import { createIdentityProvider } from '../support/saml/identity-provider.ts'
import { acsUrl, entityId, samlEnvironment } from '../support/saml/sso-server.ts'
import { openOwnDatabase, runIn } from '../support/shared-postgres.ts'
import { clientCallback, type Tokens, toClient } from '../support/supabase-source/client.ts'
import {
  sourceEnvironment,
  toCommandEnvironment,
  toSourceUrl,
} from '../support/supabase-source/open-source.ts'
import { peerMissing, preparePeerDatabase, startPeer } from '../support/supabase-source/peer.ts'

const password = 'user1password'

const notes = {
  client_name: 'Notes',
  redirect_uris: [clientCallback],
  token_endpoint_auth_method: 'client_secret_post',
}

/** Supabase Auth accepts only addresses of the Internet, which the test never connects to. */
const customProvider = {
  provider_type: 'oauth2',
  identifier: 'custom:acme',
  name: 'Acme',
  client_id: 'client at Acme',
  client_secret: 'secret at Acme',
  authorization_url: 'https://93.184.215.14/authorize',
  token_url: 'https://93.184.215.14/token',
  userinfo_url: 'https://93.184.215.14/me',
}

test('users of a real Supabase Auth move here, and back', { skip: peerMissing }, async (t) => {
  const database = await openOwnDatabase(t)
  if (!database) return
  await preparePeerDatabase(database.url)
  const provider = await openOAuthServer(t, keycloak)
  // This server uses the keys of Supabase Auth too.
  const key = randomBytes(32).toString('base64url')
  const keys = {
    GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPT: 'true',
    GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: 'k1',
    GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY: key,
    GOTRUE_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `k1:${key}`,
  }
  const server = await openAuthServer(t, {
    env: {
      AUTH_SECRETS_KEY: '',
      ...keys,
      ...passkeyEnvironment,
      ...sourceEnvironment,
      ...provider.env,
      ...samlEnvironment,
      AUTH_OAUTH_SERVER_ENABLED: 'true',
    },
    database: { url: database.url, schema: 'portcullis' },
  })
  assert.ok(server)
  const { serviceToken } = server
  const env = { ...toCommandEnvironment(server), AUTH_SECRETS_KEY: '', ...keys }
  const sourceUrl = toSourceUrl(database.url, 'auth')

  // Stored tokens, nothing encrypted.
  const withProvider = Object.fromEntries(
    Object.entries(provider.env).map(([name, value]) => [name.replace(/^AUTH_/, 'GOTRUE_'), value]),
  )
  const first = await startPeer(t, database.url, withProvider)
  const there = toClient(first.url, serviceToken)
  const plainEmail = newEmail()
  const plain: Tokens = await there.signUp({ email: plainEmail, password })
  const rotated: Tokens = (await there.refresh(plain.refresh_token)).body
  const otherDevice: Tokens = (await there.signIn({ email: plainEmail, password })).body
  const lost: Tokens = await there.signUp({ email: newEmail(), password })
  await there.refresh(lost.refresh_token)
  const old: Tokens = await there.signUp({ email: newEmail(), password })
  const next: Tokens = (await there.refresh(old.refresh_token)).body
  const newest: Tokens = (await there.refresh(next.refresh_token)).body
  await there.signUp({ phone: '15550100077', password })
  const anonymous: Tokens = await there.signUp({})
  const argonEmail = newEmail()
  await there.admin('POST', '/users', {
    email: argonEmail,
    email_confirm: true,
    password_hash: await hashArgon2(password, { memoryCost: 64, timeCost: 1 }),
  })
  const bannedEmail = newEmail()
  await there.admin('POST', '/users', {
    email: bannedEmail,
    email_confirm: true,
    password,
    ban_duration: '24h',
  })
  const external = await there.signInWithProvider(provider)
  const { sub: externalId } = claimsOf(external.access_token)
  const changedEmail = newEmail()
  await there.admin('PUT', `/users/${externalId}`, { email: changedEmail, email_confirm: true })
  const client = await there.admin('POST', '/oauth/clients', notes)
  const granted = await there.grant(client, otherDevice.access_token)
  const idp = createIdentityProvider(acsUrl, entityId)
  const company = await there.admin('POST', '/sso/providers', {
    type: 'saml',
    metadata_xml: idp.metadata(),
    domains: ['company.example'],
  })
  const employee = await there.signInWithSaml(company.id, idp)
  const memberEmail = newEmail()
  const member: Tokens = await there.signUp({ email: memberEmail, password })
  const totp = await there.enroll(member.access_token, {
    factor_type: 'totp',
    friendly_name: 'App',
  })
  const verified = await there.verifyTotp(member.access_token, totp.id, totp.totp.secret)
  const keyEmail = newEmail()
  const keyOwner: Tokens = await there.signUp({ email: keyEmail, password })
  const passkey = newAuthenticator({ isSyncable: true, counts: false })
  await there.addPasskey(keyOwner.access_token, passkey)
  const securityKey = newAuthenticator()
  const keyFactor = await there.enroll(keyOwner.access_token, {
    factor_type: 'webauthn',
    friendly_name: 'Key',
  })
  const withKey = await there.verifyKey(keyOwner.access_token, keyFactor.id, securityKey)
  await first.stop()

  // Signed tokens, and everything encrypted.
  const encryption = { ...keys, GOTRUE_SECURITY_REFRESH_TOKEN_ALGORITHM_VERSION: '2' }
  const second = await startPeer(t, database.url, encryption)
  const encrypting = toClient(second.url, serviceToken)
  const custom = await encrypting.admin('POST', '/custom-providers', customProvider)
  const signedEmail = newEmail()
  const signed: Tokens = await encrypting.signUp({ email: signedEmail, password })
  const signedNext: Tokens = (await encrypting.refresh(signed.refresh_token)).body
  const signedFactor = await encrypting.enroll(signedNext.access_token, { factor_type: 'totp' })
  const signedVerified = await encrypting.verifyTotp(
    signedNext.access_token,
    signedFactor.id,
    signedFactor.totp.secret,
  )
  assert.ok(signedVerified.refresh_token.length > 22, 'the peer issues signed tokens')
  await second.stop()

  const imported = await runCommand(
    ['import', '--from', sourceUrl, '--json', '--decryption-key', `k1=${key}`],
    { env },
  )
  assert.equal(imported.code, 0, imported.stderr + imported.stdout)
  const report = JSON.parse(imported.stdout)
  for (const { table, inSource, added } of report.tables) {
    if (table !== 'sessions') assert.equal(added, inSource, table)
  }

  server.clock.catchUp()
  const here = toClient(server.url, serviceToken, server.clock)
  const refreshed = async ({ refresh_token }: Tokens) => {
    const { status, body } = await here.refresh(refresh_token)
    assert.equal(status, 200, JSON.stringify(body))
    return body as Tokens
  }
  const codeOf = ({ body }: HttpAnswer) => body.error_code ?? body.code

  await t.test('access tokens and refresh tokens of every kind are accepted here', async () => {
    const me = await send(server.url, '/user', { token: rotated.access_token, headers: sdk })
    assert.equal(me.body.email, plainEmail)
    await refreshed(await refreshed(rotated))
    for (const tokens of [otherDevice, external, lost]) await refreshed(tokens)
    assert.equal(codeOf(await here.refresh(old.refresh_token)), 'refresh_token_already_used')
    assert.equal(codeOf(await here.refresh(newest.refresh_token)), 'refresh_token_not_found')
    assert.equal(claimsOf((await refreshed(anonymous)).access_token).is_anonymous, true)
    for (const tokens of [verified, withKey, signedVerified]) {
      assert.equal(claimsOf((await refreshed(tokens)).access_token).aal, 'aal2')
    }
  })

  await t.test('passwords, provider accounts, factors and passkeys work here', async () => {
    for (const name of [
      { email: plainEmail },
      { phone: '15550100077' },
      { email: argonEmail },
      { email: signedEmail },
    ]) {
      assert.equal((await here.signIn({ ...name, password })).status, 200)
    }
    assert.equal(codeOf(await here.signIn({ email: bannedEmail, password })), 'user_banned')
    for (const [
      email,
      {
        id,
        totp: { secret },
      },
    ] of [
      [memberEmail, totp],
      [signedEmail, signedFactor],
    ] as const) {
      const { body } = await here.signIn({ email, password })
      // The peer has used the current code.
      server.clock.aheadMs += 60_000
      const { access_token: token } = await here.verifyTotp(body.access_token, id, secret)
      assert.equal(claimsOf(token).aal, 'aal2')
    }
    const again = await here.signInWithProvider(provider)
    const { sub, email: address } = claimsOf(again.access_token)
    assert.deepEqual([sub, address], [externalId, changedEmail])
    const { user } = await here.signInWithPasskey(passkey)
    assert.equal(user.email, keyEmail)
    const { body } = await here.signIn({ email: keyEmail, password })
    const tokens = await here.verifyKey(body.access_token, keyFactor.id, securityKey)
    assert.equal(claimsOf(tokens.access_token).aal, 'aal2')
  })

  await t.test('an OAuth client keeps its secret, its session and its grant', async () => {
    const renewed = { grant_type: 'refresh_token', refresh_token: granted.refresh_token }
    const wrong = await here.askToken({ ...client, client_secret: 'wrong' }, renewed)
    assert.equal(wrong.body.error, 'invalid_client')
    const { status, body } = await here.askToken(client, renewed)
    assert.equal(status, 200, JSON.stringify(body))
    const { body: signedIn } = await here.signIn({ email: plainEmail, password })
    assert.ok((await here.requestGrant(client, signedIn.access_token)).redirectUrl)
  })

  await t.test('users of a company and providers of administrators are known here', async () => {
    await refreshed(employee)
    const again = await here.signInWithSaml(company.id, idp)
    assert.equal(claimsOf(again.access_token).sub, claimsOf(employee.access_token).sub)
    const known = await here.admin('GET', `/custom-providers/${custom.identifier}`)
    assert.deepEqual([known.id, known.token_url], [custom.id, customProvider.token_url])
  })

  const newHere = newEmail()
  const added: Tokens = await here.signUp({ email: newHere, password })
  const newFactor = await here.enroll(added.access_token, { factor_type: 'totp' })
  await here.verifyTotp(added.access_token, newFactor.id, newFactor.totp.secret)
  const holder = newAuthenticator({ isSyncable: true, counts: false })
  const phoneSession = await here.signIn({ phone: '15550100077', password })
  await here.addPasskey(phoneSession.body.access_token, holder)
  const { user: changed } = (await here.signIn({ email: argonEmail, password })).body
  await here.admin('PUT', `/users/${changed.id}`, { password: 'changed password' })
  const newClient = await here.admin('POST', '/oauth/clients', notes)
  await here.grant(newClient, phoneSession.body.access_token)
  const newIdp = createIdentityProvider(acsUrl, entityId)
  const newCompany = await here.admin('POST', '/sso/providers', {
    type: 'saml',
    metadata_xml: newIdp.metadata(),
  })
  const newEmployee = await here.signInWithSaml(newCompany.id, newIdp)
  await here.admin('PUT', `/custom-providers/${custom.identifier}`, { name: 'Renamed' })
  const { user: deleted } = (await here.signIn({ email: plainEmail, password })).body
  await here.admin('DELETE', `/users/${deleted.id}`)

  const exported = await runCommand(['export', '--to', sourceUrl, '--json'], { env })
  assert.equal(exported.code, 0, exported.stderr + exported.stdout)

  await t.test('after the way back, everything works there', async (t) => {
    const third = await startPeer(t, database.url, { ...encryption, ...withProvider })
    const back = toClient(third.url, serviceToken)
    const { sub } = claimsOf((await back.signInWithProvider(provider)).access_token)
    assert.equal(sub, externalId)
    for (const [place, its, tokens] of [
      [company, idp, employee],
      [newCompany, newIdp, newEmployee],
    ] as const) {
      const again = await back.signInWithSaml(place.id, its)
      assert.equal(claimsOf(again.access_token).sub, claimsOf(tokens.access_token).sub)
    }
    const { name } = await back.admin('GET', `/custom-providers/${custom.identifier}`)
    assert.equal(name, 'Renamed')
    const byPhone = await back.signIn({ phone: '15550100077', password })
    assert.ok((await back.requestGrant(newClient, byPhone.body.access_token)).redirectUrl)
    const { body } = await back.signIn({ email: newHere, password })
    assert.ok(body.access_token, JSON.stringify(body))
    const { access_token: token } = await back.verifyTotp(
      body.access_token,
      newFactor.id,
      newFactor.totp.secret,
    )
    assert.equal(claimsOf(token).aal, 'aal2')
    const withNew = await back.signIn({ email: argonEmail, password: 'changed password' })
    assert.equal(withNew.status, 200, JSON.stringify(withNew.body))
    assert.equal((await back.signIn({ email: argonEmail, password })).status, 400)
    assert.equal((await back.signIn({ email: plainEmail, password })).status, 400)
    assert.equal((await back.signInWithPasskey(holder)).user.phone, '15550100077')
    assert.equal((await back.signInWithPasskey(passkey)).user.email, keyEmail)
    const again = await back.signIn({ email: keyEmail, password })
    const keyed = await back.verifyKey(again.body.access_token, keyFactor.id, securityKey)
    assert.equal(claimsOf(keyed.access_token).aal, 'aal2')
    const signedAgain = await back.signIn({ email: signedEmail, password })
    assert.equal(signedAgain.status, 200)
    // It also reads the hashes as this server stores them.
    const [sealed] = await runIn(
      database.url,
      `update auth.users u set encrypted_password = p.encrypted_password
       from portcullis.users p where p.id = u.id and p.email = '${newHere}'
       returning u.encrypted_password as stored`,
    )
    assert.equal(keyIdOf(sealed?.['stored']), 'k1')
    assert.equal((await back.signIn({ email: newHere, password })).status, 200)
    await back.verifyTotp(signedAgain.body.access_token, signedFactor.id, signedFactor.totp.secret)
  })
})
