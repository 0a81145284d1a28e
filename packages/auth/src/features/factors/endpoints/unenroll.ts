import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { requireMember } from '../member.ts'
import { unenroll } from '../remove.ts'
import { readFactorId } from './factor-id.ts'

export const unenrollFactor = defineEndpoint({
  method: 'DELETE',
  path: '/factors/:factor_id',
  summary: 'Removes a factor; sessions that rest on it drop to aal1',
  allowed: 'user',
  success: { status: 200, description: 'The id of the factor' },
  async handle({ params, caller, client }, services) {
    const factorId = readFactorId(params)
    const member = requireMember(caller)
    const { id } = await unenroll(services, { member, factorId, ip: client.ip })
    return json({ id })
  },
})
