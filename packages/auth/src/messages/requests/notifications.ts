import type { NotificationKind } from '../../config/mail-messages.ts'
import { isAuthorized } from '../../features/users/addresses.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
import type { Services } from '../../services.ts'
import type { Notice } from '../statements/request-parts.ts'

/** There is no code in it that ends; but nobody wants to hear of yesterday. */
const expiresInSeconds = 24 * 60 * 60

/** Variables of its template (reference 11.2). */
type Facts = Readonly<Partial<Record<'Phone' | 'OldPhone' | 'Provider' | 'FactorType', string>>>

/**
 * What somebody is told after a change of their account; empty where the operator does not want it,
 * or where there is no address that is known to be theirs. Neither the gap between two messages nor
 * the cap of the server holds it back: whoever changes an account could use up both before.
 */
export function planNotices(
  services: Pick<Services, 'config'>,
  kind: NotificationKind,
  { email, email_confirmed_at: confirmedAt }: Pick<UserRow, 'email' | 'email_confirmed_at'>,
  facts: Facts = {},
): readonly Notice[] {
  const draft = toDraft(services, kind)
  if (draft === null || email === null || confirmedAt === null) return []
  if (!isAuthorized(services, email)) return []
  return [{ ...draft, recipient: email, payload: { ...draft.payload, Email: email, ...facts } }]
}

type Draft = Omit<Notice, 'recipient'>

/**
 * Where only the statement knows who gets it and what was there before. It does not know who may be
 * written to where that is not everybody.
 */
export function draftNotice(
  services: Pick<Services, 'config'>,
  kind: NotificationKind,
): Draft | null {
  return services.config.mail.authorizedAddresses.length > 0 ? null : toDraft(services, kind)
}

function toDraft(
  { config: { api, mail, site } }: Pick<Services, 'config'>,
  kind: NotificationKind,
): Draft | null {
  const name = `${kind}_notification` as const
  if (!mail.notifications[name].isEnabled) return null
  // Hooks that send email are told where this server is.
  const payload = { SiteURL: site.url, ExternalURL: api.externalUrl }
  return { kind: name, payload, expires_in_seconds: expiresInSeconds }
}
