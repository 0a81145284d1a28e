import type { grantTypes } from '../../oauth-clients/client-fields.ts'
import { authorizationCode } from './authorization-code.ts'
import { clientCredentials } from './client-credentials.ts'
import { deviceCode, deviceGrantType } from './device-code.ts'
import type { Grant } from './grant.ts'
import { refreshToken } from './refresh-token.ts'
import { tokenExchange, tokenExchangeType } from './token-exchange.ts'

/** The grants of the token endpoint by their `grant_type`. */
export const grants: Readonly<Record<(typeof grantTypes)[number], Grant>> = {
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
  client_credentials: clientCredentials,
  [deviceGrantType]: deviceCode,
  [tokenExchangeType]: tokenExchange,
}

export function findGrant(type: string): Grant | undefined {
  return Object.hasOwn(grants, type) ? grants[type as keyof typeof grants] : undefined
}
