import type { Check } from '@portcullis/service-kit/settings/config-check'
import { boolean, type Chapter, type Settings } from '@portcullis/service-kit/settings/env'
import { withOldNames } from './variables.ts'

export const oauthServer = {
  title: 'OAuth clients',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_OAUTH_SERVER_ENABLED',
      false,
      'Whether administrators can register OAuth clients (/admin/oauth/clients). Users cannot sign ' +
        'in to them: /oauth/authorize and /oauth/token are not supported',
    ),
  }),
} satisfies Chapter

export type OAuthServerConfig = Settings<typeof oauthServer.variables>

export function toOAuthServer(settings: OAuthServerConfig, check: Check): OAuthServerConfig {
  if (settings.enabled) {
    const name = check.nameOf(oauthServer.variables.enabled)
    check.note(
      `${name} allows administrators to register OAuth clients, but users cannot sign in to them: ` +
        '/oauth/authorize and /oauth/token are not supported',
    )
  }
  return settings
}
