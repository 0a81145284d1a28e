import type { Json, Metadata } from '../../stored-json.ts'
import { type ClientGrant, hasScope } from '../../tokens/client-grants.ts'
import type { UserRow } from '../users/statements/user-row.ts'

/** The claims about a user that the scope includes (OpenID Connect Core 1.0, section 5.4). */
export function toUserClaims(user: UserRow, grant: ClientGrant): Metadata {
  return {
    ...(hasScope(grant, 'email') && toEmailClaims(user)),
    ...(hasScope(grant, 'phone') && toPhoneClaims(user)),
    ...(hasScope(grant, 'profile') && toProfileClaims(user, hasScope(grant, 'email'))),
  }
}

function toEmailClaims({ email, email_confirmed_at: confirmedAt }: UserRow): Metadata {
  return email === null ? {} : { email, email_verified: confirmedAt !== null }
}

function toPhoneClaims({ phone, phone_confirmed_at: confirmedAt }: UserRow): Metadata {
  if (phone === null) return {}
  return { phone_number: `+${phone}`, phone_number_verified: confirmedAt !== null }
}

/** @param mayName whether the address can stand for a missing name. */
function toProfileClaims(
  { email, raw_user_meta_data: data, updated_at: updatedAt }: UserRow,
  mayName: boolean,
): Metadata {
  const name = findText(data['full_name'], data['name']) ?? (mayName ? email : null)
  const picture = findText(data['picture'], data['avatar_url'])
  const username = findText(data['preferred_username'], data['username'])
  return {
    ...(name !== null && { name }),
    ...(picture !== undefined && { picture }),
    ...(username !== undefined && { preferred_username: username }),
    updated_at: Math.floor(Date.parse(updatedAt) / 1_000),
  }
}

function findText(...values: readonly (Json | undefined)[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}
