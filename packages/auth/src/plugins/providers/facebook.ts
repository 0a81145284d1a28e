import { createHmac } from 'node:crypto'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, joinNames, readAt, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const fields = 'email,first_name,last_name,name,picture'

const trustsEmails = true

export const facebook = defineOAuth2({
  trustsEmails,
  url: 'https://www.facebook.com',
  apiUrl: 'https://graph.facebook.com',
  authorizeUrl: ({ url }) => `${url}/dialog/oauth`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/access_token`,
  scopes: ['email'],
  credentials: 'body',
  idTokens: {
    isIssuer: (issuer, { url }) => issuer === url,
    discoveryUrl: (_issuer, { url }) => url,
    skipsNonce: true,
    toProfile: (claims, { url }) =>
      toPerson(url, {
        id: claims['sub'],
        email: claims['email'],
        name: claims['name'] ?? joinNames(claims['given_name'], claims['family_name']),
        picture: claims['picture'],
      }),
  },
  async readProfile({ setup: { at, secret }, tokens, get }) {
    // Proves that the caller knows the app secret, so that a stolen token is useless.
    const proof = createHmac('sha256', secret).update(tokens.accessToken).digest('hex')
    const query = new URLSearchParams({ fields, appsecret_proof: proof })
    const user = await get(`${at.apiUrl}/me?${query}`)
    return toPerson(at.apiUrl, {
      id: user['id'],
      email: user['email'],
      name: user['name'] ?? joinNames(user['first_name'], user['last_name']),
      picture: readAt(user, 'picture', 'data', 'url'),
    })
  },
})

type Person = Readonly<Record<'id' | 'email' | 'name' | 'picture', unknown>>

function toPerson(issuer: string, { id, email, name, picture }: Person) {
  return toProfile({
    id,
    issuer,
    emails: toOneEmail(email, isTrusted(trustsEmails)),
    name,
    picture,
    more: { nickname: name, slug: name },
  })
}
