import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  duration,
  hideAll,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import {
  checkDuration,
  checkHost,
  checkLineTemplate,
  checkWebUrl,
  tenYears,
  tenYearsInSeconds,
} from './checks.ts'
import {
  type NotificationsConfig,
  notificationVariables,
  toNotifications,
} from './notifications.ts'
import { unlessBlank, withOldNames } from './variables.ts'

/** The messages there are; `MAILER_SUBJECTS_…` and `MAILER_TEMPLATES_…` end with these names. */
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
    string(`AUTH_MAILER_SUBJECTS_${kind}`, text, `Subject of the message ${kind.toLowerCase()}`),
  )
const template = (kind: string) =>
  string(
    `AUTH_MAILER_TEMPLATES_${kind}`,
    '',
    `URL of a template for the message ${kind.toLowerCase()}`,
    { defaultText: 'a built-in one' },
  )
const path = (kind: string) =>
  unlessBlank(
    string(
      `AUTH_MAILER_URLPATHS_${kind}`,
      '/verify',
      `Path, or whole URL, of the link in the message ${kind.toLowerCase()}`,
    ),
  )

export const mail = {
  title: 'Email',
  variables: withOldNames({
    adminEmail: string('AUTH_SMTP_ADMIN_EMAIL', '', 'The address messages come from'),
    host: string('AUTH_SMTP_HOST', '', 'The mail server'),
    port: integer('AUTH_SMTP_PORT', 587, 'Its port; 465 is TLS from the start', {
      min: 1,
      max: 65_535,
    }),
    user: string('AUTH_SMTP_USER', '', 'User name for the mail server'),
    password: string('AUTH_SMTP_PASS', '', 'Password for the mail server', { mask: hideAll }),
    maxFrequencyMs: duration(
      'AUTH_SMTP_MAX_FREQUENCY',
      '900s',
      'The shortest time between two messages of one kind to one address',
      { bareSeconds: true, defaultText: '900; 60 for magic links' },
    ),
    senderName: string('AUTH_SMTP_SENDER_NAME', '', 'The name messages come from', {
      defaultText: 'AUTH_SMTP_ADMIN_EMAIL',
    }),
    autoconfirm: boolean(
      'AUTH_MAILER_AUTOCONFIRM',
      false,
      'Whether addresses count as confirmed without a message',
    ),
    secureEmailChange: boolean(
      'AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED',
      true,
      'Whether a change of address is confirmed at both addresses',
    ),
    otpExpiresInSeconds: integer(
      'AUTH_MAILER_OTP_EXP',
      3_600,
      'How long links and codes are valid, in seconds',
      { min: 1, max: tenYearsInSeconds },
    ),
    otpLength: integer('AUTH_MAILER_OTP_LENGTH', 6, 'Digits of a code, from 6 to 10'),
    authorizedAddresses: list(
      'AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES',
      [],
      'The only addresses that messages may go to; ada@site.example stands for ada+…@site.example too',
      { defaultText: 'all' },
    ),
    externalHosts: list(
      'AUTH_MAILER_EXTERNAL_HOSTS',
      [],
      'Hosts that X-Forwarded-Host may name for links in messages',
    ),
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
    templateMaxBytes: integer(
      'AUTH_MAILER_TEMPLATE_MAX_SIZE',
      1_000_000,
      'The longest template that is taken from a URL',
      { min: 1 },
    ),
    templateMaxAgeMs: duration(
      'AUTH_MAILER_TEMPLATE_MAX_AGE',
      '10m',
      'How long a template is used before it is fetched again',
    ),
    templateHosts: list(
      'AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS',
      [],
      'Hosts that templates may be fetched from although they are inside the network',
      { defaultText: 'the host of AUTH_SITE_URL' },
    ),
    templateRetryMs: duration(
      'AUTH_MAILER_TEMPLATE_RETRY_INTERVAL',
      '10s',
      'When to fetch again a template that could not be had',
    ),
    ...notificationVariables,
  }),
} satisfies Chapter

export interface MailConfig {
  /** Undefined: messages are not sent, and the log says so. */
  readonly smtp: SmtpConfig | undefined
  /** Gaps between two messages of a kind to one user. */
  readonly gapMs: number
  readonly magicLinkGapMs: number
  readonly autoconfirm: boolean
  readonly secureEmailChange: boolean
  readonly otpExpiresInSeconds: number
  readonly otpLength: number
  /** In lower case. Empty: all. */
  readonly authorizedAddresses: readonly string[]
  readonly externalHosts: readonly string[]
  readonly messages: Readonly<Record<MailKind, MessageConfig>>
  readonly notifications: NotificationsConfig
  readonly templates: TemplateFetching
}

export interface SmtpConfig {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly from: { readonly name: string; readonly address: string }
}

export interface MessageConfig {
  /** Empty where a message has no link. */
  readonly path: string
  readonly subject: string
  /** Empty: the built-in template. */
  readonly templateUrl: string
}

export interface TemplateFetching {
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly retryMs: number
  /** Besides that of SITE_URL. */
  readonly insideHosts: readonly string[]
}

type MailSettings = Settings<typeof mail.variables>

/** What of it is needed. */
export interface ChannelUse {
  readonly isUsed: boolean
  /** Whether a hook sends the messages (reference 14). */
  readonly isHooked: boolean
}

export function toMail(settings: MailSettings, use: ChannelUse, check: Check): MailConfig {
  const { variables } = mail
  const isGapSet = check.isSet(variables.maxFrequencyMs)
  let { otpLength } = settings
  if (otpLength < 6 || otpLength > 10) {
    check.note(`${check.nameOf(variables.otpLength)} must be from 6 to 10: 6 is used`)
    otpLength = 6
  }
  checkSubjects(settings, check)
  checkTemplateUrls(settings, check)
  checkDuration(variables.maxFrequencyMs, settings.maxFrequencyMs, tenYears, check)
  return {
    smtp: use.isHooked ? undefined : toSmtp(settings, use.isUsed, check),
    gapMs: settings.maxFrequencyMs,
    magicLinkGapMs: isGapSet ? settings.maxFrequencyMs : 60_000,
    autoconfirm: settings.autoconfirm,
    secureEmailChange: settings.secureEmailChange,
    otpExpiresInSeconds: settings.otpExpiresInSeconds,
    otpLength,
    authorizedAddresses: settings.authorizedAddresses.map((each) => each.toLowerCase()),
    externalHosts: settings.externalHosts,
    messages: {
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
    },
    notifications: toNotifications(settings, variables, check),
    templates: {
      maxBytes: settings.templateMaxBytes,
      maxAgeMs: settings.templateMaxAgeMs,
      retryMs: settings.templateRetryMs,
      insideHosts: settings.templateHosts,
    },
  }
}

/** Subjects are templates, and a broken one would only show when a message is due. */
function checkSubjects(settings: MailSettings, check: Check): void {
  const subjects = [
    'subjectInvite',
    'subjectConfirmation',
    'subjectRecovery',
    'subjectMagicLink',
    'subjectEmailChange',
    'subjectReauthentication',
  ] as const
  for (const name of subjects) checkLineTemplate(mail.variables[name], settings[name], check)
}

/** A path of the site, or a URL that a web server answers. */
function checkTemplateUrls(settings: MailSettings, check: Check): void {
  const values: Readonly<Record<string, unknown>> = settings
  for (const [key, variable] of Object.entries(mail.variables)) {
    if (!variable.name.startsWith('AUTH_MAILER_TEMPLATES_')) continue
    const text = `${values[key]}`.trim()
    if (/^[a-z][a-z0-9+.-]*:/i.test(text)) checkWebUrl(variable, text, check)
  }
}

/** Required where messages must go out; elsewhere a warning will do (D23). A hook needs none. */
function toSmtp(
  settings: MailSettings,
  isEmailUsed: boolean,
  check: Check,
): SmtpConfig | undefined {
  const { variables } = mail
  const required = [
    [variables.adminEmail, settings.adminEmail],
    [variables.host, settings.host],
    [variables.port, check.isSet(variables.port) ? 'set' : ''],
  ] as const
  const missing = required.filter(([, value]) => value === '')
  if (missing.length > 0) {
    const names = missing.map(([variable]) => variable.name).join(', ')
    const isNeeded = isEmailUsed && !settings.autoconfirm
    if (!isNeeded) {
      check.note(`No email is sent: ${names} ${missing.length === 1 ? 'is' : 'are'} not set`)
      return undefined
    }
    for (const [variable] of missing) {
      check.fault(
        variable,
        `is required to send email (or set AUTH_MAILER_AUTOCONFIRM=true): ${variable.help}`,
      )
    }
  }
  checkHost(variables.host, settings.host.trim(), check)
  const address = settings.adminEmail.trim()
  if (address !== '' && !/^[^\s<>@]+@[^\s<>@]+$/.test(address)) {
    const name = check.nameOf(variables.adminEmail)
    check.note(`${name} is no address such as auth@example.com: mail servers may refuse it`)
  }
  return {
    host: settings.host.trim(),
    port: settings.port,
    user: settings.user,
    password: settings.password,
    from: { name: settings.senderName || address, address },
  }
}

export const messages = {
  title: 'Sending messages',
  variables: withOldNames({
    concurrency: integer(
      'AUTH_MESSAGES_CONCURRENCY',
      4,
      'How many messages each process sends at the same time, of each kind: email, text messages, hooks',
      { min: 1, max: 1_000 },
    ),
  }),
} satisfies Chapter

export type MessagesConfig = Settings<typeof messages.variables>
