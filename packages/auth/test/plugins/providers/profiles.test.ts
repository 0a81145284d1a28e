import assert from 'node:assert/strict'
import { test } from 'node:test'
import { azure } from '../../../src/plugins/providers/azure.ts'
import { discord } from '../../../src/plugins/providers/discord.ts'
import { kakao } from '../../../src/plugins/providers/kakao.ts'
import { linkedin } from '../../../src/plugins/providers/linkedin.ts'
import { linkedinOidc } from '../../../src/plugins/providers/linkedin-oidc.ts'
import type { ProviderDefinition } from '../../../src/plugins/providers/oauth/provider.ts'
import type {
  JsonObject,
  ProviderHttp,
} from '../../../src/plugins/providers/oauth/provider-http.ts'
import { slackOidc } from '../../../src/plugins/providers/slack-oidc.ts'
import { snapchat } from '../../../src/plugins/providers/snapchat.ts'
import { spotify } from '../../../src/plugins/providers/spotify.ts'
import { vercelMarketplace } from '../../../src/plugins/providers/vercel-marketplace.ts'
import { x } from '../../../src/plugins/providers/x.ts'
import { zoom } from '../../../src/plugins/providers/zoom.ts'

/** A provider whose API always returns the same response. */
function createSteps(definition: ProviderDefinition, answer: JsonObject = {}, at = definition.url) {
  const http: ProviderHttp = {
    fetchObject: async () => answer,
    fetchList: async () => [],
    fetch: () => Promise.reject(new Error('no request expected')),
  }
  const url = at ?? ''
  return definition.create({
    id: 'test',
    clientIds: ['client'],
    secret: 'secret',
    redirectUri: 'https://auth.example/callback',
    at: { url, apiUrl: url, isPublic: at === definition.url },
    http,
    openId: { verify: () => Promise.reject(new Error('no keys expected')) },
  })
}

async function readProfile(definition: ProviderDefinition, answer: JsonObject) {
  const steps = createSteps(definition, answer)
  const tokens = { accessToken: 'a', refreshToken: undefined, idToken: undefined, response: {} }
  return steps.readProfile(tokens, { parameters: {}, memo: {} })
}

async function readClaims(definition: ProviderDefinition, answer: JsonObject) {
  return (await readProfile(definition, answer)).claims
}

/** The profile in an ID token. */
function readIdToken(definition: ProviderDefinition, claims: JsonObject) {
  const { idTokens } = createSteps(definition)
  assert.ok(idTokens)
  return idTokens.toProfile({ iss: 'https://issuer.example', ...claims })
}

test('azure: an address is verified unless xms_edov marks its domain as unverified', () => {
  const { idTokens } = createSteps(azure)
  const isVerified = (xms_edov?: unknown) => {
    const claims = {
      sub: '1',
      iss: 'x',
      email: 'a@b.example',
      ...(xms_edov !== undefined && { xms_edov }),
    }
    return idTokens?.toProfile(claims).emails[0]?.isVerified
  }
  for (const value of [undefined, true, 1, '1', 'true']) assert.equal(isVerified(value), true)
  for (const value of [false, 0, '0', 'false', '', 2, {}]) assert.equal(isVerified(value), false)
})

test('azure: any tenant is an issuer unless one is configured', () => {
  const tenant = '6b8b8f3c-1f0a-4c3e-9a53-0d6a4b1f2e70'
  const microsoft = 'https://login.microsoftonline.com'
  const isIssuer = (at: string | undefined, issuer: string) =>
    createSteps(azure, {}, at).idTokens?.isIssuer(issuer)
  const issuers = [`${microsoft}/${tenant}/v2.0`, `https://contoso.ciamlogin.com/${tenant}/v2.0`]
  const others = [
    `http://login.microsoftonline.com/${tenant}/v2.0`,
    `https://login.microsoftonline.com.evil.example/${tenant}/v2.0`,
    `https://evil.example/${microsoft}/${tenant}/v2.0`,
    `https://a.b.ciamlogin.com/${tenant}/v2.0`,
    `${microsoft}/${tenant}/v2.0/`,
    `${microsoft}/${tenant}/../x/v2.0`,
    `${microsoft}/${tenant}?/v2.0`,
    `${microsoft}//v2.0`,
    `https://sts.windows.net/${tenant}/`,
    '',
  ]
  for (const at of [undefined, `${microsoft}/organizations`, `${microsoft}/consumers`]) {
    for (const issuer of issuers) assert.equal(isIssuer(at, issuer), true, issuer)
    for (const issuer of others) assert.equal(isIssuer(at, issuer), false, issuer)
  }
  const own = `${microsoft}/${tenant}`
  assert.equal(isIssuer(own, `${own}/v2.0`), true)
  for (const issuer of [`${microsoft}/other/v2.0`, own, ...others]) {
    assert.equal(isIssuer(own, issuer), false, issuer)
  }
})

test('discord: names with and without a discriminator, and all kinds of avatars', async () => {
  const user = { id: '80351110224678912', username: 'nelly', discriminator: '1337', avatar: 'abc' }
  const pictures = 'https://cdn.discordapp.com'
  const old = await readClaims(discord, user)
  assert.deepEqual([old['name'], old['full_name']], ['nelly#1337', 'nelly'])
  assert.equal(old['avatar_url'], `${pictures}/avatars/${user.id}/abc.png`)
  const without = await readClaims(discord, { ...user, avatar: null })
  assert.equal(without['avatar_url'], `${pictures}/embed/avatars/2.png`)
  const young = await readClaims(discord, { ...user, discriminator: '0', avatar: null })
  assert.deepEqual(
    [young['name'], young['avatar_url']],
    // The default avatar is (id >> 22) modulo 6.
    ['nelly', `${pictures}/embed/avatars/5.png`],
  )
})

test('kakao: an address is verified if Kakao says that it is valid and verified', async () => {
  const emailsOf = async (account: JsonObject) => {
    const user = { id: 1, kakao_account: { email: 'a@b.example', ...account } }
    const { emails } = await readProfile(kakao, user)
    return emails.map(({ email, isVerified }) => [email, isVerified])
  }
  const both = { is_email_valid: true, is_email_verified: true }
  assert.deepEqual(await emailsOf(both), [['a@b.example', true]])
  for (const account of [{ ...both, is_email_verified: false }, { is_email_verified: true }, {}]) {
    assert.deepEqual(await emailsOf(account), [['a@b.example', false]], JSON.stringify(account))
  }
  // Kakao masks the address after another account has taken it over.
  const masked = { is_email_valid: false, is_email_verified: true, email: 'ka***@kakao.example' }
  assert.deepEqual(await emailsOf(masked), [])
})

test('kakao, snapchat: the address in an ID token is verified only if the token says so', () => {
  const isVerified = (definition: ProviderDefinition, reported: JsonObject) =>
    readIdToken(definition, { sub: '1', email: 'a@b.example', ...reported }).emails[0]?.isVerified
  for (const definition of [kakao, snapchat]) {
    assert.equal(isVerified(definition, {}), false)
    assert.equal(isVerified(definition, { email_verified: false }), false)
    assert.equal(isVerified(definition, { email_verified: true }), true)
  }
})

test('kakao, linkedin_oidc, snapchat, vercel_marketplace: only their own issuer is accepted', () => {
  const issuers: readonly (readonly [ProviderDefinition, string, string])[] = [
    [kakao, 'https://kauth.kakao.com', ''],
    [linkedinOidc, 'https://www.linkedin.com/oauth', '/oauth'],
    [snapchat, 'https://accounts.snapchat.com/accounts/oauth2/token', '/accounts/oauth2/token'],
    [vercelMarketplace, 'https://marketplace.vercel.com', ''],
  ]
  const own = 'https://proxy.example'
  for (const [definition, issuer, path] of issuers) {
    const open = createSteps(definition).idTokens
    const behindProxy = createSteps(definition, {}, own).idTokens
    assert.deepEqual([open?.isIssuer(issuer), open?.isIssuer(`${own}${path}`)], [true, false])
    assert.equal(behindProxy?.isIssuer(`${own}${path}`), true, issuer)
    // The provider behind the proxy still issues its tokens under its own name.
    assert.equal(behindProxy?.isIssuer(issuer), true, issuer)
    for (const other of [
      '',
      `${issuer}/`,
      issuer.replace('https', 'http'),
      `${issuer}.evil.example`,
    ]) {
      assert.deepEqual([open?.isIssuer(other), behindProxy?.isIssuer(other)], [false, false], other)
    }
  }
  assert.equal(createSteps(vercelMarketplace).idTokens?.isIssuer('https://api.vercel.com'), false)
})

test('linkedin_oidc: the name is joined if it is missing, and a locale object is ignored', () => {
  const token = { sub: '1', given_name: 'Annie', family_name: 'Easley' }
  const { claims } = readIdToken(linkedinOidc, { ...token, locale: { country: 'US' } })
  assert.deepEqual([claims['full_name'], claims['locale']], ['Annie Easley', undefined])
  const named = readIdToken(linkedinOidc, { ...token, name: 'A. Easley', locale: 'en_US' })
  assert.deepEqual([named.claims['name'], named.claims['locale']], ['A. Easley', 'en_US'])
})

test('linkedin_oidc, slack_oidc: an address without a statement is not verified', async () => {
  const { emails } = readIdToken(linkedinOidc, { sub: '1', email: 'a@b.example' })
  assert.equal(emails[0]?.isVerified, false)
  const user = { 'https://slack.com/user_id': 'U1', email: 'a@b.example' }
  assert.equal((await readProfile(slackOidc, user)).emails[0]?.isVerified, false)
})

test('linkedin_oidc, vercel_marketplace: a response without an ID token is refused', async () => {
  await assert.rejects(readProfile(linkedinOidc, {}), {
    message: 'linkedin_oidc returned no ID token',
  })
  const message = 'vercel_marketplace returned no ID token'
  await assert.rejects(readProfile(vercelMarketplace, {}), { message })
})

test('linkedin: the name in the preferred locale is used if there is one', async () => {
  const toName = (text: string) => ({
    localized: { en_US: 'English', de_DE: text },
    preferredLocale: { language: 'de', country: 'DE' },
  })
  const both = await readClaims(linkedin, {
    id: '1',
    firstName: toName('Käthe'),
    lastName: toName('Schmidt'),
  })
  assert.equal(both['full_name'], 'Käthe Schmidt')
  const none = await readClaims(linkedin, { id: '1', firstName: {}, lastName: null })
  assert.deepEqual([none['full_name'], none['picture']], [undefined, undefined])
})

test('spotify: a user may have no picture', async () => {
  assert.equal((await readClaims(spotify, { id: '1', images: [] }))['avatar_url'], undefined)
  assert.equal((await readClaims(spotify, { id: '1' }))['avatar_url'], undefined)
})

test('snapchat, x: an error with status 200 is reported with its reason', async () => {
  const error = { message: 'Not authorized', detail: 'Not authorized' }
  for (const [definition, answer] of [
    [snapchat, { data: { me: null }, errors: [error] }],
    [snapchat, { data: null, errors: [error] }],
    [x, { errors: [error] }],
  ] as const) {
    const message = `${definition === x ? 'x' : 'snapchat'} returned no profile: Not authorized`
    await assert.rejects(readProfile(definition, answer), { message })
  }
  await assert.rejects(readProfile(x, {}), { message: 'x returned no profile: no reason' })
})

test('snapchat: a field that is not shared does not hide the others', async () => {
  const me = { externalId: 'CAESI1', displayName: 'Joan', bitmoji: null, email: null }
  const errors = [{ message: 'email: Not authorized' }]
  const { id, emails, claims } = await readProfile(snapchat, { data: { me }, errors })
  assert.deepEqual([id, emails, claims['full_name']], ['CAESI1', [], 'Joan'])
})

test('vercel_marketplace: a token without a global user id has the id of the user in one team', () => {
  const sub = 'account:5d9f2ebd38dd:user:a3f1c9d2e4b5'
  assert.equal(readIdToken(vercelMarketplace, { sub }).id, sub)
  assert.equal(readIdToken(vercelMarketplace, { sub, global_user_id: '' }).id, sub)
  const { id } = readIdToken(vercelMarketplace, { sub, global_user_id: '7' })
  assert.equal(id, 'global_user_id:7')
})

test('zoom: an address is verified by an email from Zoom or by another provider', async () => {
  const isVerified = async (user: JsonObject) =>
    (await readProfile(zoom, { id: '1', email: 'a@b.example', ...user })).emails[0]?.isVerified
  const fine = [
    { verified: 1, login_types: [100] },
    { verified: 1 },
    ...[0, 1, 24, 27].map((login) => ({ verified: 0, login_types: [login] })),
  ]
  for (const user of fine) assert.equal(await isVerified(user), true, JSON.stringify(user))
  const others = [
    {},
    { verified: 0 },
    { verified: 0, login_types: [] },
    { verified: 0, login_types: [1, 100] },
    // An API user, a work email, and single sign-on, where the customer decides about addresses.
    ...[99, 100, 101, '1'].map((login) => ({ verified: 0, login_types: [login] })),
    { verified: true },
    { verified: '1' },
  ]
  for (const user of others) assert.equal(await isVerified(user), false, JSON.stringify(user))
})
