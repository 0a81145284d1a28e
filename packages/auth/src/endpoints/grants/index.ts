import type { Grant } from './grant.ts'
import { passwordGrant } from './password.ts'
import { pkceGrant } from './pkce.ts'
import { refreshTokenGrant } from './refresh-token.ts'

/** By the value of `grant_type`. */
export const grants: Readonly<Record<string, Grant>> = {
  password: passwordGrant,
  pkce: pkceGrant,
  refresh_token: refreshTokenGrant,
}
