import { requestReauthentication } from '../core/reauthentication.ts'
import { json } from '../http/call.ts'
import { defineEndpoint } from '../http/endpoint.ts'

export const reauthenticate = defineEndpoint({
  method: 'GET',
  path: '/reauthenticate',
  summary: 'Sends the user who asks a code, which a change of the password may need',
  allowed: 'user',
  success: { status: 200, description: 'An empty object' },
  async handle({ caller, client, externalUrl }, services) {
    await requestReauthentication(services, { user: caller, client, externalUrl })
    return json({})
  },
})
