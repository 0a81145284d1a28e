import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { readPasskeyId } from '../../passkeys/endpoints/passkey-id.ts'
import { findPasskeysOf, removePasskeyOf, toPasskeyRecord } from '../../passkeys/management.ts'
import { readUserId } from './user-id.ts'

export const adminListPasskeys = defineEndpoint({
  method: 'GET',
  path: '/admin/users/:user_id/passkeys',
  summary: 'The passkeys of a user',
  allowed: 'admin',
  success: { status: 200, description: 'An array of passkeys, the oldest first' },
  async handle({ params }, services) {
    return json((await findPasskeysOf(services, readUserId(params))).map(toPasskeyRecord))
  },
})

export const adminDeletePasskey = defineEndpoint({
  method: 'DELETE',
  path: '/admin/users/:user_id/passkeys/:passkey_id',
  summary: 'Removes a passkey of a user',
  allowed: 'admin',
  success: { status: 204, description: 'It is gone' },
  async handle({ params, adminRole, client }, services) {
    await removePasskeyOf(services, {
      userId: readUserId(params),
      passkeyId: readPasskeyId(params),
      adminRole,
      ip: client.ip,
    })
    return noContent
  },
})
