import type { OAuthClient } from '../../../../console/routes/access-items.ts'

export function toClientName({ client_name: name }: OAuthClient): string {
  return name ?? 'Unnamed client'
}

interface GrantType {
  readonly type: string
  readonly title: string
  readonly hint: string
}

/** The first two are the default. */
export const grantTypes: readonly GrantType[] = [
  {
    type: 'authorization_code',
    title: 'Sign users in',
    hint: 'Authorization code with PKCE. Needs a redirect URI.',
  },
  {
    type: 'refresh_token',
    title: 'Refresh tokens',
    hint: 'Stays signed in after a token expires.',
  },
  {
    type: 'client_credentials',
    title: 'Act as itself',
    hint: 'Client credentials: tokens without a user. Only for confidential clients.',
  },
  {
    type: 'urn:ietf:params:oauth:grant-type:device_code',
    title: 'Sign in on devices',
    hint: 'Device code: for televisions and command-line programs.',
  },
  {
    type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    title: 'Exchange tokens',
    hint: 'Token exchange: calls other services for a user. Only for confidential clients.',
  },
]

export function toGrantTitle(type: string): string {
  return grantTypes.find((each) => each.type === type)?.title ?? type
}
