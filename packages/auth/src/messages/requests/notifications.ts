import { isAuthorized } from '../../addresses.ts'
import type { NotificationKind } from '../../config/mail/messages.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
import type { Services } from '../../services.ts'
import type { Notice } from '../statements/request-parts.ts'

/** A notification contains no code that expires, but is not useful after a day. */
const expiresInSeconds = 24 * 60 * 60

/** Variables of the template. */
type Facts = Readonly<Partial<Record<'Phone' | 'OldPhone' | 'Provider' | 'FactorType', string>>>

/**
 * Plans the notification about a change of an account. Empty if the operator has disabled it, or if
 * the user has no confirmed email address. Cooldowns and the cap of the server do not apply,
 * because an attacker could exhaust both before changing the account.
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
 * For statements that determine the recipient and the previous values. They cannot check the list of
 * authorized addresses, so there is no notice if such a list is configured.
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
  // Hooks that send email need the URL of this server.
  const payload = { SiteURL: site.url, ExternalURL: api.externalUrl }
  return { kind: name, payload, expires_in_seconds: expiresInSeconds }
}
