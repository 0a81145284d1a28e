import { json } from '../../../http/call.ts'
import type { Grant } from './grant.ts'

export const refreshTokenGrant: Grant = async ({ body, client }, { sessions }) => {
  const { response, onSent } = await sessions.refresh(body.refresh_token ?? '', client)
  return { ...json(response), onSent }
}
