import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  hideAll,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import {
  checkDuration,
  checkHost,
  type HeaderLists,
  tenYears,
  tenYearsInSeconds,
  toHeaderLists,
} from '../checks.ts'
import { withOldNames } from '../variables.ts'
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
} from './messages.ts'
import { noteInternalTemplates } from './template-hosts.ts'

export const mail = {
  title: 'Email',
  variables: withOldNames({
    adminEmail: string('AUTH_SMTP_ADMIN_EMAIL', '', 'Sender address of messages'),
    host: string('AUTH_SMTP_HOST', '', 'Host name of the mail server'),
    port: integer('AUTH_SMTP_PORT', 587, 'Port of the mail server; 465 uses implicit TLS', {
      min: 1,
      max: 65_535,
    }),
    // With some mail providers, the user name is the API token.
    user: string('AUTH_SMTP_USER', '', 'User name for the mail server', { mask: hideAll }),
    password: string('AUTH_SMTP_PASS', '', 'Password for the mail server', { mask: hideAll }),
    maxFrequencyMs: duration(
      'AUTH_SMTP_MAX_FREQUENCY',
      '900s',
      'Minimum interval between two messages of the same kind to one address',
      { bareSeconds: true, defaultText: '900; 60 for magic links' },
    ),
    senderName: string('AUTH_SMTP_SENDER_NAME', '', 'Sender name of messages', {
      defaultText: 'AUTH_SMTP_ADMIN_EMAIL',
    }),
    headers: string(
      'AUTH_SMTP_HEADERS',
      '',
      'Additional headers of emails as JSON: {"X-Tag": ["auth", "$messageType"]}. $messageType is ' +
        'replaced by the kind of message, such as confirmation or magic_link',
    ),
    autoconfirm: boolean(
      'AUTH_MAILER_AUTOCONFIRM',
      false,
      'Whether email addresses are confirmed without sending a message',
    ),
    allowsUnverified: boolean(
      'AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS',
      false,
      'Whether users can sign in with a provider that has not verified their email address; a ' +
        'confirmation message is sent, and the address stays unconfirmed until then',
    ),
    secureEmailChange: boolean(
      'AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED',
      true,
      'Whether a change of email address must be confirmed from both addresses',
    ),
    otpExpiresInSeconds: integer(
      'AUTH_MAILER_OTP_EXP',
      3_600,
      'Lifetime of links and codes in seconds',
      { min: 1, max: tenYearsInSeconds },
    ),
    otpLength: integer('AUTH_MAILER_OTP_LENGTH', 6, 'Number of digits of a code, from 6 to 10'),
    authorizedAddresses: list(
      'AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES',
      [],
      'The only addresses that messages are sent to; ada@site.example also allows ada+…@site.example',
      { defaultText: 'all' },
    ),
    externalHosts: list(
      'AUTH_MAILER_EXTERNAL_HOSTS',
      [],
      'Hosts that are accepted from X-Forwarded-Host for links in messages',
    ),
    ...messageVariables,
    templateMaxBytes: integer(
      'AUTH_MAILER_TEMPLATE_MAX_SIZE',
      1_000_000,
      'Maximum size in bytes of a template fetched from a URL',
      { min: 1 },
    ),
    templateMaxAgeMs: duration(
      'AUTH_MAILER_TEMPLATE_MAX_AGE',
      '10m',
      'How long a fetched template is cached',
    ),
    templateHosts: list(
      'AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS',
      [],
      'Hosts in the internal network that templates may be fetched from',
      { defaultText: 'the host of AUTH_SITE_URL' },
    ),
    templateRetryMs: duration(
      'AUTH_MAILER_TEMPLATE_RETRY_INTERVAL',
      '10s',
      'Delay before a failed fetch of a template is retried',
    ),
    ...notificationVariables,
  }),
} satisfies Chapter

export interface MailConfig {
  /** Undefined: a hook sends email, or no email is sent and a warning is logged. */
  readonly smtp: SmtpConfig | undefined
  /** Minimum interval between two messages of one kind to one user. */
  readonly cooldownMs: number
  readonly magicLinkCooldownMs: number
  readonly autoconfirm: boolean
  /** Whether users may sign in with an address that their provider has not verified. */
  readonly allowsUnverified: boolean
  readonly secureEmailChange: boolean
  readonly otpExpiresInSeconds: number
  readonly otpLength: number
  /** In lower case. Empty: all addresses are allowed. */
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
  /** Additional headers; `$messageType` in a value stands for the kind of message. */
  readonly headers: HeaderLists
}

export interface TemplateFetching {
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly retryMs: number
  /** Allowed in addition to the host of SITE_URL. */
  readonly internalHosts: readonly string[]
}

type MailSettings = Settings<typeof mail.variables>

/** How a channel is used, which decides whether its settings are required. */
export interface ChannelUse {
  readonly isUsed: boolean
  /** Whether a hook sends the messages. */
  readonly isHooked: boolean
}

interface MailUse extends ChannelUse {
  readonly siteUrl: string
}

export function toMail(settings: MailSettings, use: MailUse, check: Check): MailConfig {
  const { variables } = mail
  const isCooldownSet = check.isSet(variables.maxFrequencyMs)
  let { otpLength } = settings
  if (otpLength < 6 || otpLength > 10) {
    check.note(`${check.nameOf(variables.otpLength)} must be from 6 to 10: 6 is used`)
    otpLength = 6
  }
  checkSubjects(settings, variables, check)
  checkTemplateUrls(settings, variables, check)
  if (!use.isHooked) {
    const { templateHosts: allowed } = settings
    noteInternalTemplates({ settings, variables, allowed, siteUrl: use.siteUrl }, check)
  }
  checkDuration(variables.maxFrequencyMs, settings.maxFrequencyMs, tenYears, check)
  if (settings.autoconfirm && settings.allowsUnverified) {
    const name = check.nameOf(variables.autoconfirm)
    const message = `must not be true together with ${name}, which confirms every address`
    check.fault(variables.allowsUnverified, message)
  }
  return {
    smtp: use.isHooked ? undefined : toSmtp(settings, use.isUsed, check),
    cooldownMs: settings.maxFrequencyMs,
    magicLinkCooldownMs: isCooldownSet ? settings.maxFrequencyMs : 60_000,
    autoconfirm: settings.autoconfirm,
    allowsUnverified: settings.allowsUnverified,
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
      internalHosts: settings.templateHosts,
    },
  }
}

/**
 * SMTP settings are required only if email must be sent; otherwise a missing one is a warning. A
 * hook needs none.
 */
function toSmtp(
  settings: MailSettings,
  isEmailUsed: boolean,
  check: Check,
): SmtpConfig | undefined {
  const { variables } = mail
  const headers = toHeaderLists(variables.headers, settings.headers, check)
  checkMailHeaders(headers, check)
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
    check.note(`${name} is not an address such as auth@example.com: mail servers may reject it`)
  }
  return {
    host: settings.host.trim(),
    port: settings.port,
    user: settings.user,
    password: settings.password,
    from: { name: settings.senderName || address, address },
    headers,
  }
}

/** The server sets these headers; a second value would make the message invalid. */
const ownHeaders =
  /^(?:from|sender|to|cc|bcc|subject|date|message-id|mime-version|auto-submitted|content-.*)$/i

function checkMailHeaders(headers: HeaderLists, check: Check): void {
  const { headers: variable } = mail.variables
  const names = Object.keys(headers).filter((name) => ownHeaders.test(name))
  if (names.length > 0)
    check.fault(variable, `must not contain ${names.join(', ')}, which the server sets`)
}

export const messages = {
  title: 'Sending messages',
  variables: withOldNames({
    concurrency: integer(
      'AUTH_MESSAGES_CONCURRENCY',
      4,
      'Number of messages that each process sends concurrently per channel: email, text messages, hooks',
      { min: 1, max: 1_000 },
    ),
  }),
} satisfies Chapter

export type MessagesConfig = Settings<typeof messages.variables>
