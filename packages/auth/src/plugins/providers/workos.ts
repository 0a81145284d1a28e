import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, joinNames, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import { isObject } from './oauth/provider-http.ts'

const trustsEmails = true

/** Clients choose where users sign in: `connection`, `organization` or `workos_provider`. */
export const workos = defineOAuth2({
  trustsEmails,
  url: 'https://api.workos.com',
  authorizeUrl: ({ url }) => `${url}/sso/authorize`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/sso/token`,
  scopes: [],
  renamed: { workos_provider: 'provider' },
  credentials: 'body',
  async readProfile({ setup: { at }, tokens }) {
    const { profile } = tokens.response
    const user = isObject(profile) ? profile : {}
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: toOneEmail(user['email'], isTrusted(trustsEmails)),
      name: joinNames(user['first_name'], user['last_name']),
      custom: { connection_id: user['connection_id'], organization_id: user['organization_id'] },
    })
  },
})
