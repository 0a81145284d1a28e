import assert from 'node:assert/strict'
import { test } from 'node:test'
import { azure } from '../../../src/plugins/providers/azure.ts'
import { discord } from '../../../src/plugins/providers/discord.ts'
import { linkedin } from '../../../src/plugins/providers/linkedin.ts'
import type { ProviderDefinition } from '../../../src/plugins/providers/oauth/provider.ts'
import type {
  JsonObject,
  ProviderHttp,
} from '../../../src/plugins/providers/oauth/provider-http.ts'
import { spotify } from '../../../src/plugins/providers/spotify.ts'

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

async function readClaims(definition: ProviderDefinition, answer: JsonObject) {
  const steps = createSteps(definition, answer)
  const tokens = { accessToken: 'a', refreshToken: undefined, idToken: undefined, response: {} }
  return (await steps.readProfile(tokens, { parameters: {}, memo: {} })).claims
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
