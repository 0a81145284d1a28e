import { json } from '../../../http/call.ts'
import { exchangeCode } from '../code-exchange.ts'
import type { Grant } from './grant.ts'

export const pkceGrant: Grant = async ({ body, client, externalUrl }, services) => {
  const { auth_code: code = '', code_verifier: verifier = '' } = body
  return json(await exchangeCode(services, { code, verifier, client, externalUrl }))
}
