import { randomUUID } from 'node:crypto'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { SmtpConfig } from '../../config/mail/mail.ts'
import { ApiError, invalid } from '../../errors.ts'
import {
  describeVariables,
  type TemplateVariable,
  toExampleValues,
} from '../../messages/mail/example-variables.ts'
import {
  isMailKind,
  type MailPreview,
  type MessageName,
  messageNames,
  type RenderedMail,
} from '../../messages/mail/mail-renderer.ts'
import { toCapError, toCapParts } from '../../messages/requests/message-cooldowns.ts'
import type { Services } from '../../services.ts'
import { toAdminEntry } from '../audit/audit.ts'
import type { Client } from '../sessions/sessions.ts'
import { requestTestMail } from './statements/test-mail.ts'

/** A message as users would receive it, with example values. */
interface TemplatePreview extends RenderedMail {
  readonly name: MessageName
  readonly is_enabled: boolean
  /** Whether AUTH_MAILER_TEMPLATES_… names a template. */
  readonly is_custom: boolean
  /** Why the configured template is not used at present. */
  readonly problem?: string
  readonly variables: readonly TemplateVariable[]
}

interface TemplateList {
  /** What sends email: the mail server, the hook, or nothing. A hook does not use the templates. */
  readonly sender: 'smtp' | 'hook' | 'none'
  readonly templates: readonly TemplatePreview[]
}

const exampleRecipient = 'ada@example.com'

export async function listMailTemplates(services: Services): Promise<TemplateList> {
  const templates = await Promise.all(messageNames.map((name) => previewTemplate(services, name)))
  return { sender: findSender(services), templates }
}

function findSender({ config, hooks }: Services): TemplateList['sender'] {
  if (hooks.sendEmail !== undefined) return 'hook'
  return config.mail.smtp === undefined ? 'none' : 'smtp'
}

async function previewTemplate(services: Services, name: MessageName): Promise<TemplatePreview> {
  const { config, mailRenderer } = services
  const { messages, notifications } = config.mail
  const values = toExampleValues(config, name, exampleRecipient)
  const { problem, ...rendered } = await mailRenderer.preview(name, values).catch(toFailedPreview)
  const { templateUrl } = isMailKind(name) ? messages[name] : notifications[name]
  return {
    name,
    is_enabled: isMailKind(name) || notifications[name].isEnabled,
    is_custom: templateUrl !== '',
    ...(problem !== undefined && { problem }),
    ...rendered,
    variables: describeVariables(values),
  }
}

/** The template in a subject can fail. The other messages are shown anyway. */
function toFailedPreview(error: unknown): MailPreview {
  return { subject: '', html: '', text: '', problem: toReason(error) }
}

/** @throws {ApiError} */
export function parseMessageName(text: string | undefined): MessageName {
  const name = messageNames.find((known) => known === text)
  if (name !== undefined) return name
  throw invalid(`template must be one of ${messageNames.join(', ')}`)
}

export interface TestMailRequest {
  readonly name: MessageName
  /** Already validated. */
  readonly email: string
  readonly adminRole: string
  readonly client: Client
}

/** Shorter than the time limit of most proxies. */
const longestSendMs = 15_000
const longestReason = 300

/**
 * Sends a message with example values. It is sent at once instead of through the outbox, so that the
 * administrator gets the error of the mail server.
 * @throws {ApiError} if it cannot be sent.
 */
export async function sendTestMail(services: Services, request: TestMailRequest): Promise<void> {
  const { config, db, mailRenderer } = services
  const { name, email, adminRole, client } = request
  const smtp = requireSmtp(services)
  await services.emailCheck?.check(email)
  const now = new Date(services.now())
  const [permit] = await db.run(requestTestMail, {
    now,
    ip: client.ip,
    audit: toAdminEntry('test_email_requested', adminRole, { template: name, recipient: email }),
    ...toCapParts(config.limits.emailSent),
  })
  if (permit === undefined) throw await toCapError(services, 'email', now)
  const rendered = await mailRenderer.preview(name, toExampleValues(config, name, email))
  const timeoutMs = Math.min(longestSendMs, Math.ceil(config.api.maxRequestDurationMs * 0.8))
  try {
    await send(smtp, { ...rendered, name, email }, AbortSignal.timeout(timeoutMs))
  } catch (error) {
    throw toSendError(error, timeoutMs)
  }
}

function requireSmtp(services: Services): SmtpConfig {
  const { smtp } = services.config.mail
  if (findSender(services) === 'hook') {
    throw new ApiError(
      'email_send_failed',
      'A hook sends email (AUTH_HOOK_SEND_EMAIL_ENABLED) and does not use these templates. Test the hook instead',
    )
  }
  if (smtp !== undefined) return smtp
  throw new ApiError(
    'email_send_failed',
    'No mail server is configured. Set AUTH_SMTP_HOST, AUTH_SMTP_PORT and AUTH_SMTP_ADMIN_EMAIL',
  )
}

interface TestMail extends RenderedMail {
  readonly name: MessageName
  readonly email: string
}

async function send(smtp: SmtpConfig, mail: TestMail, signal: AbortSignal): Promise<void> {
  const { name, email, subject, html, text } = mail
  // Loaded here, because a server without email never needs it.
  const { openSmtp } = await import('../../messages/mail/smtp.ts')
  await using connection = openSmtp(smtp)
  const domain = smtp.from.address.split('@').at(-1) ?? 'localhost'
  const messageId = `<${randomUUID()}@${domain}>`
  await connection.send({ subject, html, text, to: email, messageId, kind: name }, signal)
}

function toSendError(error: unknown, timeoutMs: number): ApiError {
  const { name } = error instanceof Error ? error : {}
  const reason =
    name === 'TimeoutError'
      ? `no response within ${timeoutMs / 1_000} s`
      : toReason(error)
          .replace(/[\s\p{Cc}]+/gu, ' ')
          .slice(0, longestReason)
  return new ApiError('email_send_failed', `The mail server did not accept the message: ${reason}`)
}
