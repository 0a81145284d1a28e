import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  hideCredentials,
  type Settings,
  string,
  type Variables,
} from '@portcullis/service-kit/settings/env'
import { checkLineTemplate, checkWebUrl } from '../checks.ts'
import { unlessBlank } from '../variables.ts'

/** The kinds of messages; `MAILER_SUBJECTS_…` and `MAILER_TEMPLATES_…` end with these names. */
export const mailKinds = [
  'invite',
  'confirmation',
  'recovery',
  'magic_link',
  'email_change',
  'reauthentication',
] as const
export type MailKind = (typeof mailKinds)[number]

const subject = (kind: string, text: string) =>
  unlessBlank(
    string(`AUTH_MAILER_SUBJECTS_${kind}`, text, `Subject of the ${kind.toLowerCase()} message`),
  )
const template = (kind: string) =>
  string(
    `AUTH_MAILER_TEMPLATES_${kind}`,
    '',
    `URL of a template for the ${kind.toLowerCase()} message`,
    { defaultText: 'the built-in template', mask: hideCredentials },
  )
const path = (kind: string) =>
  unlessBlank(
    string(
      `AUTH_MAILER_URLPATHS_${kind}`,
      '/verify',
      `Path or absolute URL of the link in the ${kind.toLowerCase()} message`,
    ),
  )

/** Part of the chapter on email. */
export const messageVariables = {
  pathInvite: path('INVITE'),
  pathConfirmation: path('CONFIRMATION'),
  pathRecovery: path('RECOVERY'),
  pathEmailChange: path('EMAIL_CHANGE'),
  subjectInvite: subject('INVITE', 'You have been invited'),
  subjectConfirmation: subject('CONFIRMATION', 'Confirm Your Signup'),
  subjectRecovery: subject('RECOVERY', 'Reset Your Password'),
  subjectMagicLink: subject('MAGIC_LINK', 'Your Magic Link'),
  subjectEmailChange: subject('EMAIL_CHANGE', 'Confirm Email Change'),
  subjectReauthentication: subject('REAUTHENTICATION', 'Confirm Reauthentication'),
  templateInvite: template('INVITE'),
  templateConfirmation: template('CONFIRMATION'),
  templateRecovery: template('RECOVERY'),
  templateMagicLink: template('MAGIC_LINK'),
  templateEmailChange: template('EMAIL_CHANGE'),
  templateReauthentication: template('REAUTHENTICATION'),
}

type MessageSettings = Settings<typeof messageVariables>

export interface MessageConfig {
  /** Empty if the message has no link. */
  readonly path: string
  readonly subject: string
  /** Empty: the built-in template. */
  readonly templateUrl: string
}

export function toMessages(settings: MessageSettings): Readonly<Record<MailKind, MessageConfig>> {
  return {
    invite: {
      path: settings.pathInvite,
      subject: settings.subjectInvite,
      templateUrl: settings.templateInvite,
    },
    confirmation: {
      path: settings.pathConfirmation,
      subject: settings.subjectConfirmation,
      templateUrl: settings.templateConfirmation,
    },
    recovery: {
      path: settings.pathRecovery,
      subject: settings.subjectRecovery,
      templateUrl: settings.templateRecovery,
    },
    magic_link: {
      path: settings.pathRecovery,
      subject: settings.subjectMagicLink,
      templateUrl: settings.templateMagicLink,
    },
    email_change: {
      path: settings.pathEmailChange,
      subject: settings.subjectEmailChange,
      templateUrl: settings.templateEmailChange,
    },
    reauthentication: {
      path: '',
      subject: settings.subjectReauthentication,
      templateUrl: settings.templateReauthentication,
    },
  }
}

/** Reports a broken subject template at startup instead of when a message is due. */
export function checkSubjects(
  settings: MessageSettings,
  variables: typeof messageVariables,
  check: Check,
): void {
  const subjects = [
    'subjectInvite',
    'subjectConfirmation',
    'subjectRecovery',
    'subjectMagicLink',
    'subjectEmailChange',
    'subjectReauthentication',
  ] as const
  for (const name of subjects) checkLineTemplate(variables[name], settings[name], check)
}

/** A template URL is a path of the site or an absolute web URL. */
export function checkTemplateUrls(
  settings: MessageSettings,
  variables: Variables,
  check: Check,
): void {
  const values: Readonly<Record<string, unknown>> = settings
  for (const [key, variable] of Object.entries(variables)) {
    if (!variable.name.startsWith('AUTH_MAILER_TEMPLATES_')) continue
    const text = `${values[key]}`.trim()
    if (/^[a-z][a-z0-9+.-]*:/i.test(text)) checkWebUrl(variable, text, check)
  }
}

/** Messages that report a change of an account after it has happened. All are off by default. */
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

/** The name of the message in the outbox and for hooks. */
export type NotificationMessage = `${NotificationKind}_notification`

const emailAfter = (kind: string, event: string) =>
  boolean(
    `AUTH_MAILER_NOTIFICATIONS_${kind}_ENABLED`,
    false,
    `Whether users get an email after ${event}`,
  )
const noticeSubject = (kind: string, text: string) =>
  unlessBlank(
    string(
      `AUTH_MAILER_SUBJECTS_${kind}_NOTIFICATION`,
      text,
      `Subject of the ${kind.toLowerCase()} notification`,
    ),
  )
const noticeTemplate = (kind: string) =>
  string(
    `AUTH_MAILER_TEMPLATES_${kind}_NOTIFICATION`,
    '',
    `URL of a template for the ${kind.toLowerCase()} notification`,
    { defaultText: 'the built-in template', mask: hideCredentials },
  )

/** Part of the chapter on email. */
export const notificationVariables = {
  notifies_password_changed: emailAfter('PASSWORD_CHANGED', 'their password has changed'),
  notifies_email_changed: emailAfter(
    'EMAIL_CHANGED',
    'their email address has changed; it is sent to the previous address',
  ),
  notifies_phone_changed: emailAfter('PHONE_CHANGED', 'their phone number has changed'),
  notifies_identity_linked: emailAfter(
    'IDENTITY_LINKED',
    'an identity was linked to their account',
  ),
  notifies_identity_unlinked: emailAfter(
    'IDENTITY_UNLINKED',
    'an identity was unlinked from their account',
  ),
  notifies_mfa_factor_enrolled: emailAfter('MFA_FACTOR_ENROLLED', 'a second factor was added'),
  notifies_mfa_factor_unenrolled: emailAfter(
    'MFA_FACTOR_UNENROLLED',
    'a second factor was removed',
  ),
  subject_password_changed: noticeSubject('PASSWORD_CHANGED', 'Your password has been changed'),
  subject_email_changed: noticeSubject('EMAIL_CHANGED', 'Your email address has been changed'),
  subject_phone_changed: noticeSubject('PHONE_CHANGED', 'Your phone number has been changed'),
  subject_identity_linked: noticeSubject('IDENTITY_LINKED', 'A new identity has been linked'),
  subject_identity_unlinked: noticeSubject('IDENTITY_UNLINKED', 'An identity has been unlinked'),
  subject_mfa_factor_enrolled: noticeSubject(
    'MFA_FACTOR_ENROLLED',
    'A new MFA factor has been enrolled',
  ),
  subject_mfa_factor_unenrolled: noticeSubject(
    'MFA_FACTOR_UNENROLLED',
    'An MFA factor has been unenrolled',
  ),
  template_password_changed: noticeTemplate('PASSWORD_CHANGED'),
  template_email_changed: noticeTemplate('EMAIL_CHANGED'),
  template_phone_changed: noticeTemplate('PHONE_CHANGED'),
  template_identity_linked: noticeTemplate('IDENTITY_LINKED'),
  template_identity_unlinked: noticeTemplate('IDENTITY_UNLINKED'),
  template_mfa_factor_enrolled: noticeTemplate('MFA_FACTOR_ENROLLED'),
  template_mfa_factor_unenrolled: noticeTemplate('MFA_FACTOR_UNENROLLED'),
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
      isEnabled: settings[`notifies_${kind}`],
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
