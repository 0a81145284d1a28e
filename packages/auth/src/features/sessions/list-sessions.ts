import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { findSessions } from './session-list.ts'

export const listOwnSessions = defineEndpoint({
  method: 'GET',
  path: '/user/sessions',
  summary: 'Where the user who asks is signed in: device, address and last use, newest first',
  allowed: 'user',
  success: { status: 200, description: 'An array of sessions; is_current marks this one' },
  async handle({ caller }, services) {
    return json(await findSessions(services, caller.id, caller.session_id))
  },
})
