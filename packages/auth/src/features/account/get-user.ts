import { invalid } from '../../errors.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { toUserRecord } from '../users/user-record.ts'

export const getUser = defineEndpoint({
  method: 'GET',
  path: '/user',
  summary: 'The user who asks',
  allowed: 'former user',
  success: { status: 200, description: 'The user record' },
  async handle({ caller, audience }) {
    if (caller.aud !== audience) throw invalid("Token audience doesn't match request audience")
    return json(toUserRecord(caller))
  },
})
