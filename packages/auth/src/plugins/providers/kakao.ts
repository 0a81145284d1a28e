import { defineOAuth2 } from './oauth/oauth2.ts'
import {
  isTrue,
  isTrusted,
  type ProfileParts,
  readAt,
  toOneEmail,
  toProfile,
} from './oauth/profile-parts.ts'

const issuer = 'https://kauth.kakao.com'

// Kakao has accounts with unverified addresses, and only its API reports which ones they are.
const trustsEmails = false

export const kakao = defineOAuth2({
  trustsEmails,
  url: issuer,
  apiUrl: 'https://kapi.kakao.com',
  authorizeUrl: ({ url }) => `${url}/oauth/authorize`,
  tokenUrl: ({ url }) => `${url}/oauth/token`,
  scopes: ['account_email', 'profile_image', 'profile_nickname'],
  credentials: 'body',
  idTokens: {
    isIssuer: (name, { url }) => name === issuer || name === url,
    toProfile: (claims) =>
      toKakaoProfile(`${claims['iss']}`, {
        id: claims['sub'],
        emails: toOneEmail(claims['email'], isTrusted(trustsEmails, claims['email_verified'])),
        name: claims['nickname'],
        picture: claims['picture'],
      }),
  },
  async readProfile({ setup: { at }, get }) {
    const user = await get(`${at.apiUrl}/v2/user/me`)
    const account = user['kakao_account']
    return toKakaoProfile(at.apiUrl, {
      id: user['id'],
      emails: toAccountEmails(account),
      name: readAt(account, 'profile', 'nickname'),
      picture: readAt(account, 'profile', 'profile_image_url'),
    })
  },
})

/**
 * An address becomes invalid when another Kakao account starts to use it. Kakao then masks it
 * (`ka***@kakao.com`), so that mail cannot be sent to it.
 */
function toAccountEmails(account: unknown) {
  const isValid = readAt(account, 'is_email_valid')
  if (isValid === false) return []
  const isVerified = isTrue(isValid) && isTrue(readAt(account, 'is_email_verified'))
  return toOneEmail(readAt(account, 'email'), isVerified)
}

function toKakaoProfile(
  iss: string,
  person: Pick<ProfileParts, 'id' | 'emails' | 'name' | 'picture'>,
) {
  const { name } = person
  return toProfile({ ...person, issuer: iss, more: { user_name: name, preferred_username: name } })
}
