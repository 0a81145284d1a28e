import { type Static, Type } from '../../../http/schema.ts'
import { parseEmail, parsePhone } from '../../users/addresses.ts'
import { checkText } from '../../users/metadata.ts'

const metadata = Type.Record(Type.String(), Type.Unknown())

/** What administrators set, of new users and of others. */
export const userFields = {
  role: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String({ description: 'E.164' })),
  password: Type.Optional(Type.String()),
  email_confirm: Type.Optional(Type.Boolean({ description: 'Whether the address is confirmed' })),
  phone_confirm: Type.Optional(Type.Boolean({ description: 'Whether the number is confirmed' })),
  user_metadata: Type.Optional(metadata),
  app_metadata: Type.Optional(metadata),
  ban_duration: Type.Optional(
    Type.String({ description: 'A duration with units ns, us, ms, s, m, h; or none' }),
  ),
}

const body = Type.Object(userFields)

/** Empty texts are as good as none. @throws {ApiError} */
export function parseUserFields(fields: Static<typeof body>) {
  const { role = '', email = '', phone = '', password = '' } = fields
  checkText('role', role)
  return {
    role: role || undefined,
    email: email === '' ? undefined : parseEmail(email),
    phone: phone === '' ? undefined : parsePhone(phone),
    password: password || undefined,
  }
}
