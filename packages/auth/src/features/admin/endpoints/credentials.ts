import { parsePhone } from '../../../addresses.ts'
import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { checkText } from '../../../stored-json.ts'
import { readFactorId } from '../../factors/endpoints.ts'
import { changeFactor, deleteFactor } from '../../factors/enrollment.ts'
import { readPasskeyId } from '../../passkeys/endpoints.ts'
import { findPasskeysOf, removePasskeyOf, toPasskeyRecord } from '../../passkeys/management.ts'
import { getUser, toFactorRecord } from '../../users/user-record.ts'
import { readUserId } from './users.ts'

const factorsPath = '/admin/users/:user_id/factors'

export const adminListFactors = defineEndpoint({
  method: 'GET',
  path: factorsPath,
  summary: 'Lists the factors of a user',
  allowed: 'admin',
  success: { status: 200, description: 'An array of factors' },
  async handle({ params }, services) {
    const { factors } = await getUser(services, readUserId(params))
    return json(factors.map(toFactorRecord))
  },
})

export const adminUpdateFactor = defineEndpoint({
  method: 'PUT',
  path: `${factorsPath}/:factor_id`,
  summary: 'Renames a factor, or changes the phone number of a phone factor',
  allowed: 'admin',
  body: Type.Object({
    friendly_name: Type.Optional(Type.String({ maxLength: 255 })),
    phone: Type.Optional(Type.String({ description: 'New number of a phone factor (E.164)' })),
  }),
  success: { status: 200, description: 'The factor' },
  async handle({ body, params, adminRole, client }, services) {
    const { friendly_name: friendlyName = '', phone = '' } = body
    checkText('friendly_name', friendlyName)
    return json(
      toFactorRecord(
        await changeFactor(services, {
          userId: readUserId(params),
          factorId: readFactorId(params),
          friendlyName: friendlyName.trim() || undefined,
          phone: phone === '' ? undefined : parsePhone(phone),
          adminRole,
          ip: client.ip,
        }),
      ),
    )
  },
})

export const adminDeleteFactor = defineEndpoint({
  method: 'DELETE',
  path: `${factorsPath}/:factor_id`,
  summary: 'Removes a factor of a user. Sessions that were verified with it drop to aal1',
  allowed: 'admin',
  success: { status: 200, description: 'The removed factor' },
  async handle({ params, adminRole, client }, services) {
    return json(
      toFactorRecord(
        await deleteFactor(services, {
          userId: readUserId(params),
          factorId: readFactorId(params),
          adminRole,
          ip: client.ip,
        }),
      ),
    )
  },
})

export const adminListPasskeys = defineEndpoint({
  method: 'GET',
  path: '/admin/users/:user_id/passkeys',
  summary: 'Lists the passkeys of a user',
  allowed: 'admin',
  success: { status: 200, description: 'An array of passkeys, oldest first' },
  async handle({ params }, services) {
    return json((await findPasskeysOf(services, readUserId(params))).map(toPasskeyRecord))
  },
})

export const adminDeletePasskey = defineEndpoint({
  method: 'DELETE',
  path: '/admin/users/:user_id/passkeys/:passkey_id',
  summary: 'Removes a passkey of a user',
  allowed: 'admin',
  success: { status: 204, description: 'The passkey was removed' },
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
