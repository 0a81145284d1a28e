import type { Services } from '../../services.ts'
import type { Json, Metadata } from '../../stored-json.ts'
import { type ClientGrant, hasScope } from '../../tokens/client-grants.ts'
import { isInDomainOfProvider } from '../sso/providers.ts'
import type { UserRow } from '../users/statements/user-row.ts'

/** The claims about a user that the scope includes (OpenID Connect Core 1.0, section 5.4). */
export async function toUserClaims(
  services: Pick<Services, 'db'>,
  user: UserRow,
  grant: ClientGrant,
): Promise<Metadata> {
  return {
    ...(hasScope(grant, 'email') && (await toEmailClaims(services, user))),
    ...(hasScope(grant, 'phone') && toPhoneClaims(user)),
    ...(hasScope(grant, 'profile') && toProfileClaims(user, hasScope(grant, 'email'))),
  }
}

/**
 * Clients may find their own accounts by a verified address. A company can claim any address for its users, who count as
 * confirmed here, so the claim is true only for addresses in the domains of the company.
 */
async function toEmailClaims(services: Pick<Services, 'db'>, user: UserRow): Promise<Metadata> {
  const { email, email_confirmed_at: confirmedAt } = user
  if (email === null) return {}
  const isConfirmed = confirmedAt !== null
  const isOwn = isConfirmed && (!user.is_sso_user || (await isInDomainOfProvider(services, user)))
  return { email, email_verified: isOwn }
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
