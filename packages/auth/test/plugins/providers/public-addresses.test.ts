import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerIds, providers } from '../../../src/plugins/providers/index.ts'
import type { OpenId } from '../../../src/plugins/providers/oauth/provider.ts'
import type { ProviderHttp } from '../../../src/plugins/providers/oauth/provider-http.ts'

/** The default URLs of a provider; `requests` lists the requests of the server in order. */
interface Addresses {
  readonly authorize: string
  readonly scope?: string
  readonly requests: readonly string[]
}

const addresses: Readonly<Record<string, Addresses>> = {
  apple: {
    authorize: 'https://appleid.apple.com/auth/authorize',
    scope: 'email name',
    requests: ['https://appleid.apple.com/auth/token'],
  },
  azure: {
    authorize: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    scope: 'openid email profile',
    requests: ['https://login.microsoftonline.com/common/oauth2/v2.0/token'],
  },
  bitbucket: {
    authorize: 'https://bitbucket.org/site/oauth2/authorize',
    scope: 'account email',
    requests: [
      'https://bitbucket.org/site/oauth2/access_token',
      'https://api.bitbucket.org/2.0/user',
      'https://api.bitbucket.org/2.0/user/emails?pagelen=100',
    ],
  },
  discord: {
    authorize: 'https://discord.com/api/oauth2/authorize',
    scope: 'email identify',
    requests: ['https://discord.com/api/oauth2/token', 'https://discord.com/api/users/@me'],
  },
  facebook: {
    authorize: 'https://www.facebook.com/dialog/oauth',
    scope: 'email',
    requests: [
      'https://graph.facebook.com/oauth/access_token',
      // The proof is the HMAC-SHA256 of the token `token` with the key `secret`.
      `https://graph.facebook.com/me?fields=${encodeURIComponent('email,first_name,last_name,name,picture')}&appsecret_proof=e941110e3d2bfe82621f0e3e1434730d7305d106c5f68c87165d0b27a4611a4a`,
    ],
  },
  figma: {
    authorize: 'https://www.figma.com/oauth',
    scope: 'current_user:read',
    requests: ['https://api.figma.com/v1/oauth/token', 'https://api.figma.com/v1/me'],
  },
  github: {
    authorize: 'https://github.com/login/oauth/authorize',
    scope: 'user:email',
    requests: [
      'https://github.com/login/oauth/access_token',
      'https://api.github.com/user',
      'https://api.github.com/user/emails',
    ],
  },
  gitlab: {
    authorize: 'https://gitlab.com/oauth/authorize',
    scope: 'read_user',
    requests: [
      'https://gitlab.com/oauth/token',
      'https://gitlab.com/api/v4/user',
      'https://gitlab.com/api/v4/user/emails',
    ],
  },
  google: {
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    scope: 'email profile',
    requests: ['https://oauth2.googleapis.com/token', 'https://www.googleapis.com/userinfo/v2/me'],
  },
  linkedin: {
    authorize: 'https://api.linkedin.com/oauth/v2/authorization',
    scope: 'r_emailaddress r_liteprofile',
    requests: [
      'https://api.linkedin.com/oauth/v2/accessToken',
      'https://api.linkedin.com/v2/me?projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))',
      'https://api.linkedin.com/v2/emailAddress?q=members&projection=(elements*(handle~))',
    ],
  },
  notion: {
    authorize: 'https://api.notion.com/v1/oauth/authorize',
    requests: ['https://api.notion.com/v1/oauth/token', 'https://api.notion.com/v1/users/me'],
  },
  slack: {
    authorize: 'https://slack.com/oauth/authorize',
    scope: 'profile email openid',
    requests: [
      'https://slack.com/api/oauth.access',
      'https://slack.com/api/openid.connect.userInfo',
    ],
  },
  spotify: {
    authorize: 'https://accounts.spotify.com/authorize',
    scope: 'user-read-email',
    requests: ['https://accounts.spotify.com/api/token', 'https://api.spotify.com/v1/me'],
  },
  twitch: {
    authorize: 'https://id.twitch.tv/oauth2/authorize',
    scope: 'user:read:email',
    requests: ['https://id.twitch.tv/oauth2/token', 'https://api.twitch.tv/helix/users'],
  },
  twitter: {
    authorize: 'https://api.twitter.com/oauth/authenticate',
    requests: [
      'https://api.twitter.com/oauth/request_token',
      'https://api.twitter.com/oauth/access_token',
      'https://api.twitter.com/1.1/account/verify_credentials.json?include_entities=false&skip_status=true&include_email=true',
    ],
  },
  workos: {
    authorize: 'https://api.workos.com/sso/authorize',
    requests: ['https://api.workos.com/sso/token'],
  },
  fly: {
    authorize: 'https://api.fly.io/oauth/authorize',
    scope: 'read',
    requests: ['https://api.fly.io/oauth/token', 'https://api.fly.io/oauth/token/info'],
  },
  kakao: {
    authorize: 'https://kauth.kakao.com/oauth/authorize',
    scope: 'account_email profile_image profile_nickname',
    requests: ['https://kauth.kakao.com/oauth/token', 'https://kapi.kakao.com/v2/user/me'],
  },
  linkedin_oidc: {
    authorize: 'https://www.linkedin.com/oauth/v2/authorization',
    scope: 'openid email profile',
    requests: ['https://www.linkedin.com/oauth/v2/accessToken'],
  },
  slack_oidc: {
    authorize: 'https://slack.com/openid/connect/authorize',
    scope: 'profile email openid',
    requests: [
      'https://slack.com/api/openid.connect.token',
      'https://slack.com/api/openid.connect.userInfo',
    ],
  },
  snapchat: {
    authorize: 'https://accounts.snapchat.com/accounts/oauth2/auth',
    scope: ['external_id', 'display_name', 'bitmoji.avatar']
      .map((field) => `https://auth.snapchat.com/oauth2/api/user.${field}`)
      .join(' '),
    requests: [
      'https://accounts.snapchat.com/accounts/oauth2/token',
      'https://kit.snapchat.com/v1/me?query=%7Bme%7BexternalId+displayName+bitmoji%7Bavatar+id%7D+email%7D%7D',
    ],
  },
  vercel_marketplace: {
    authorize: 'https://api.vercel.com/oauth/v2/authorization',
    requests: ['https://api.vercel.com/oauth/v2/accessToken'],
  },
  x: {
    authorize: 'https://x.com/i/oauth2/authorize',
    scope: 'users.email tweet.read users.read offline.access',
    requests: [
      'https://api.x.com/2/oauth2/token',
      'https://api.x.com/2/users/me?user.fields=id,name,username,confirmed_email,profile_image_url,url,created_at',
    ],
  },
  zoom: {
    authorize: 'https://zoom.us/oauth/authorize',
    requests: ['https://zoom.us/oauth/token', 'https://api.zoom.us/v2/users/me'],
  },
}

/** Records the requested URLs and returns the same response to all requests. */
function openRecorder() {
  const requested: string[] = []
  const token = { access_token: 'token', oauth_token: 'token', oauth_token_secret: 'hidden' }
  const http: ProviderHttp = {
    async fetchObject(url) {
      requested.push(url)
      return { ...token, id: 'user' }
    },
    async fetchList(url) {
      requested.push(url)
      return []
    },
    async fetch(url) {
      requested.push(url)
      return new Response(`${new URLSearchParams({ ...token, oauth_callback_confirmed: 'true' })}`)
    },
  }
  const openId: OpenId = { verify: () => Promise.reject(new Error('There is no ID token')) }
  return { requested, http, openId }
}

async function signInWith(id: keyof typeof providers) {
  const definition = providers[id]
  assert.ok(definition?.url, id)
  const { requested, http, openId } = openRecorder()
  const { url, apiUrl = url } = definition
  const steps = definition.create({
    id,
    clientIds: ['client'],
    secret: 'secret',
    redirectUri: 'https://auth.example/callback',
    at: { url, apiUrl, isPublic: true },
    http,
    openId,
  })
  const target = await steps.start({ state: 'state', scopes: [], parameters: {} })
  const parameters = { code: 'code', oauth_token: 'token', oauth_verifier: 'verifier' }
  const back = { parameters, memo: target.memo }
  const tokens = await steps.exchange(back)
  // No profile is returned; only the requested URL matters.
  await steps.readProfile(tokens, back).catch(() => undefined)
  return { requested, authorize: new URL(target.url) }
}

test('every provider except keycloak has public URLs and requests the email address and name', async (t) => {
  const ids = providerIds.filter((id) => id !== 'keycloak')
  assert.deepEqual(Object.keys(addresses), ids)
  for (const id of ids) {
    await t.test(id, async () => {
      const { authorize, requested } = await signInWith(id)
      const expected = addresses[id]
      assert.equal(`${authorize.origin}${authorize.pathname}`, expected?.authorize)
      assert.equal(authorize.searchParams.get('scope'), expected?.scope ?? null)
      assert.deepEqual(requested, expected?.requests)
    })
  }
})

test('keycloak has no default URL', () => {
  assert.equal(providers.keycloak?.url, undefined)
})
