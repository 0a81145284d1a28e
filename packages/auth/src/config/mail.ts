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
import { checkDuration, checkHost, tenYears, tenYearsInSeconds } from './checks.ts'
import {
  checkSubjects,
  checkTemplateUrls,
  type MailKind,
  type MessageConfig,
  messageVariables,
  type NotificationsConfig,
  notificationVariables,
  toMessages,
  toNotifications,
} from './mail-messages.ts'
import { withOldNames } from './variables.ts'

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
    ...messageVariables,
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
  checkSubjects(settings, variables, check)
  checkTemplateUrls(settings, variables, check)
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
    messages: toMessages(settings),
    notifications: toNotifications(settings, variables, check),
    templates: {
      maxBytes: settings.templateMaxBytes,
      maxAgeMs: settings.templateMaxAgeMs,
      retryMs: settings.templateRetryMs,
      insideHosts: settings.templateHosts,
    },
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
