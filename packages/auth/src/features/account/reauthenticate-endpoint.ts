import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { readRecipients } from '../../messages/requests/code-recipients.ts'
import { requestReauthentication } from './reauthentication.ts'

export const reauthenticate = defineEndpoint({
  method: 'GET',
  path: '/reauthenticate',
  summary: 'Sends the user who asks a code, which a change of the password may need',
  allowed: 'user',
  sendsCodesTo: ({ caller }) =>
    readRecipients(caller.email === null ? { phone: caller.phone ?? '' } : { email: caller.email }),
  success: { status: 200, description: 'An empty object' },
  async handle({ caller, client, externalUrl }, services) {
    await requestReauthentication(services, { user: caller, client, externalUrl })
    return json({})
  },
})
