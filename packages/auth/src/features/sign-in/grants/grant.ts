import type { Answer, Call } from '../../../http/call.ts'
import type { Services } from '../../../services.ts'

export interface GrantBody {
  readonly email?: string
  readonly phone?: string
  readonly password?: string
  readonly refresh_token?: string
  readonly auth_code?: string
  readonly code_verifier?: string
  readonly provider?: string
  readonly id_token?: string
  readonly access_token?: string
  readonly nonce?: string
  readonly link_identity?: boolean
  readonly client_id?: string
  readonly issuer?: string
}

export type Grant = (call: Call<GrantBody>, services: Services) => Promise<Answer>
