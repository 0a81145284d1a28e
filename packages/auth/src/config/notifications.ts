import type { Check } from '@portcullis/service-kit/config-check'
import { boolean, type Settings, string } from '@portcullis/service-kit/env'
import { checkLineTemplate } from './checks.ts'
import { unlessBlank } from './variables.ts'

/** What people may be told of after it has happened, all of it off by default (reference 11.1). */
export const notificationKinds = [
  'password_changed',
  'email_changed',
  'phone_changed',
  'identity_linked',
  'identity_unlinked',
  'mfa_factor_enrolled',
  'mfa_factor_unenrolled',
] as const
export type NotificationKind = (typeof notificationKinds)[number]

/** What its message is called, in the outbox and for hooks. */
export type NotificationMessage = `${NotificationKind}_notification`

const on = (kind: string, what: string) =>
  boolean(
    `AUTH_MAILER_NOTIFICATIONS_${kind}_ENABLED`,
    false,
    `Whether people get an email after ${what}`,
  )
const subject = (kind: string, text: string) =>
  unlessBlank(
    string(
      `AUTH_MAILER_SUBJECTS_${kind}_NOTIFICATION`,
      text,
      `Subject of the notification ${kind.toLowerCase()}`,
    ),
  )
const template = (kind: string) =>
  string(
    `AUTH_MAILER_TEMPLATES_${kind}_NOTIFICATION`,
    '',
    `URL of a template for the notification ${kind.toLowerCase()}`,
    { defaultText: 'a built-in one' },
  )

/** Part of the chapter on email. */
export const notificationVariables = {
  tells_password_changed: on('PASSWORD_CHANGED', 'their password has changed'),
  tells_email_changed: on('EMAIL_CHANGED', 'their address has changed, to the one before'),
  tells_phone_changed: on('PHONE_CHANGED', 'their phone number has changed'),
  tells_identity_linked: on('IDENTITY_LINKED', 'another way to sign in was linked'),
  tells_identity_unlinked: on('IDENTITY_UNLINKED', 'a way to sign in was unlinked'),
  tells_mfa_factor_enrolled: on('MFA_FACTOR_ENROLLED', 'a second factor was added'),
  tells_mfa_factor_unenrolled: on('MFA_FACTOR_UNENROLLED', 'a second factor was removed'),
  subject_password_changed: subject('PASSWORD_CHANGED', 'Your password has been changed'),
  subject_email_changed: subject('EMAIL_CHANGED', 'Your email address has been changed'),
  subject_phone_changed: subject('PHONE_CHANGED', 'Your phone number has been changed'),
  subject_identity_linked: subject('IDENTITY_LINKED', 'A new identity has been linked'),
  subject_identity_unlinked: subject('IDENTITY_UNLINKED', 'An identity has been unlinked'),
  subject_mfa_factor_enrolled: subject('MFA_FACTOR_ENROLLED', 'A new MFA factor has been enrolled'),
  subject_mfa_factor_unenrolled: subject(
    'MFA_FACTOR_UNENROLLED',
    'An MFA factor has been unenrolled',
  ),
  template_password_changed: template('PASSWORD_CHANGED'),
  template_email_changed: template('EMAIL_CHANGED'),
  template_phone_changed: template('PHONE_CHANGED'),
  template_identity_linked: template('IDENTITY_LINKED'),
  template_identity_unlinked: template('IDENTITY_UNLINKED'),
  template_mfa_factor_enrolled: template('MFA_FACTOR_ENROLLED'),
  template_mfa_factor_unenrolled: template('MFA_FACTOR_UNENROLLED'),
}

export interface NotificationConfig {
  readonly isEnabled: boolean
  readonly subject: string
  /** Empty: the built-in template. */
  readonly templateUrl: string
}

export type NotificationsConfig = Readonly<Record<NotificationMessage, NotificationConfig>>

export function toNotifications(
  settings: Settings<typeof notificationVariables>,
  variables: typeof notificationVariables,
  check: Check,
): NotificationsConfig {
  const toOne = (kind: NotificationKind): NotificationConfig => {
    const text = settings[`subject_${kind}`]
    checkLineTemplate(variables[`subject_${kind}`], text, check)
    return {
      isEnabled: settings[`tells_${kind}`],
      subject: text,
      templateUrl: settings[`template_${kind}`],
    }
  }
  return {
    password_changed_notification: toOne('password_changed'),
    email_changed_notification: toOne('email_changed'),
    phone_changed_notification: toOne('phone_changed'),
    identity_linked_notification: toOne('identity_linked'),
    identity_unlinked_notification: toOne('identity_unlinked'),
    mfa_factor_enrolled_notification: toOne('mfa_factor_enrolled'),
    mfa_factor_unenrolled_notification: toOne('mfa_factor_unenrolled'),
  }
}
