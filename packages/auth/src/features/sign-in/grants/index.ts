import type { Grant } from './grant.ts'
import { idTokenGrant } from './id-token.ts'
import { passwordGrant } from './password.ts'
import { pkceGrant } from './pkce.ts'
import { refreshTokenGrant } from './refresh-token.ts'
import { web3Grant } from './web3.ts'

/** By the value of `grant_type`. */
export const grants: Readonly<Record<string, Grant>> = {
  id_token: idTokenGrant,
  password: passwordGrant,
  pkce: pkceGrant,
  refresh_token: refreshTokenGrant,
  web3: web3Grant,
}
