import type { Services } from '../../core/services.ts'
import type { Answer, Call } from '../../http/call.ts'

export interface GrantBody {
  readonly email?: string
  readonly phone?: string
  readonly password?: string
  readonly refresh_token?: string
  readonly auth_code?: string
  readonly code_verifier?: string
}

export type Grant = (call: Call<GrantBody>, services: Services) => Promise<Answer>
