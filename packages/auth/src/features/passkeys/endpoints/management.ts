import { invalid } from '../../../errors.ts'
import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { checkText } from '../../admin/endpoints/user-fields.ts'
import {
  findOwnPasskeys,
  nameOwnPasskey,
  removeOwnPasskey,
  toPasskeyRecord,
} from '../management.ts'
import { readPasskeyId } from './passkey-id.ts'

const longestName = 120

export const listOwnPasskeys = defineEndpoint({
  method: 'GET',
  path: '/passkeys',
  summary: 'The passkeys of the user who asks',
  allowed: 'user',
  success: { status: 200, description: 'An array of passkeys, the oldest first' },
  async handle({ caller }, services) {
    return json((await findOwnPasskeys(services, caller)).map(toPasskeyRecord))
  },
})

export const updateOwnPasskey = defineEndpoint({
  method: 'PATCH',
  path: '/passkeys/:passkey_id',
  summary: 'Renames a passkey',
  allowed: 'user',
  body: Type.Object({
    friendly_name: Type.Optional(Type.String({ description: `1 to ${longestName} characters` })),
  }),
  success: { status: 200, description: 'The passkey' },
  async handle({ body, params, caller, client }, services) {
    const passkeyId = readPasskeyId(params)
    const friendlyName = parseName(body.friendly_name)
    const order = { person: caller, passkeyId, friendlyName, ip: client.ip }
    return json(toPasskeyRecord(await nameOwnPasskey(services, order)))
  },
})

export const deleteOwnPasskey = defineEndpoint({
  method: 'DELETE',
  path: '/passkeys/:passkey_id',
  summary: 'Removes a passkey, which signs nobody in any more',
  allowed: 'user',
  success: { status: 204, description: 'It is gone' },
  async handle({ params, caller, client }, services) {
    const passkeyId = readPasskeyId(params)
    await removeOwnPasskey(services, { person: caller, passkeyId, ip: client.ip })
    return noContent
  },
})

/** @throws {ApiError} */
function parseName(text = ''): string {
  const name = text.trim()
  if (name === '') throw invalid('friendly_name is required')
  if ([...name].length > longestName) {
    throw invalid(`friendly_name must be ${longestName} characters or less`)
  }
  checkText('friendly_name', name)
  return name
}
