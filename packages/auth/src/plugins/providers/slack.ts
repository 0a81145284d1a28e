import { OutgoingError } from '../../outgoing/http-client.ts'
import type { ExternalProfile } from './oauth/external-profile.ts'
import { defineOAuth2, type ProfileContext } from './oauth/oauth2.ts'
import { isTrusted, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const trustsEmails = true

export const slack = defineOAuth2({
  trustsEmails,
  url: 'https://slack.com',
  authorizeUrl: ({ url }) => `${url}/oauth/authorize`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/api/oauth.access`,
  scopes: ['profile', 'email', 'openid'],
  credentials: 'basic',
  readProfile: (context) =>
    readSlackProfile(context, (isVerified) => isTrusted(trustsEmails, isVerified)),
})

/** @param isVerified converts `email_verified` of the profile. */
export async function readSlackProfile(
  { setup: { id, at }, get }: ProfileContext,
  isVerified: (emailVerified: unknown) => boolean,
): Promise<ExternalProfile> {
  const user = await get(`${at.apiUrl}/api/openid.connect.userInfo`)
  // Slack sends errors with status 200.
  if (user['ok'] === false) {
    throw new OutgoingError(`${id} returned no profile: ${`${user['error']}`.slice(0, 100)}`)
  }
  return toProfile({
    id: user['https://slack.com/user_id'],
    issuer: at.apiUrl,
    emails: toOneEmail(user['email'], isVerified(user['email_verified'])),
    name: user['name'],
    picture: user['picture'],
    custom: { 'https://slack.com/team_id': user['https://slack.com/team_id'] },
  })
}
