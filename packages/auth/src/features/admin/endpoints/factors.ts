import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { changeFactor, deleteFactor } from '../../factors/administration.ts'
import { readFactorId } from '../../factors/endpoints/factor-id.ts'
import { parsePhone } from '../../users/addresses.ts'
import { findUserById } from '../../users/statements/find-users.ts'
import type { UserRow } from '../../users/statements/user-row.ts'
import { toFactorRecord } from '../../users/user-record.ts'
import { userNotFound } from '../update-user.ts'
import { checkText } from './user-fields.ts'
import { readUserId } from './user-id.ts'

const path = '/admin/users/:user_id/factors'

export const adminListFactors = defineEndpoint({
  method: 'GET',
  path,
  summary: 'The factors of a user',
  allowed: 'admin',
  success: { status: 200, description: 'An array of factors' },
  async handle({ params }, { db }) {
    const [user] = await db.run<UserRow>(findUserById, [readUserId(params)])
    if (user === undefined) throw userNotFound()
    return json(user.factors.map(toFactorRecord))
  },
})

export const adminUpdateFactor = defineEndpoint({
  method: 'PUT',
  path: `${path}/:factor_id`,
  summary: 'Renames a factor, or changes the number of a phone factor',
  allowed: 'admin',
  body: Type.Object({
    friendly_name: Type.Optional(Type.String({ maxLength: 255 })),
    phone: Type.Optional(Type.String({ description: 'Of a phone factor (E.164)' })),
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
  path: `${path}/:factor_id`,
  summary: 'Removes a factor of a user; sessions that rest on it drop to aal1',
  allowed: 'admin',
  success: { status: 200, description: 'The factor that is gone' },
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
