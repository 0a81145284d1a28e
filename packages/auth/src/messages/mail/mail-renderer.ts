import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { MailConfig } from '../../config/mail/mail.ts'
import {
  type MailKind,
  type MessageConfig,
  mailKinds,
  type NotificationMessage,
  notificationKinds,
} from '../../config/mail/messages.ts'
import type { FetchSettings } from '../../outgoing/guarded-fetch.ts'
import { parseHtmlTemplate, parseLineTemplate, type Template } from '../../template/index.ts'
import { UndeliverableError } from '../sending/failures.ts'
import { htmlToText } from './html-to-text.ts'
import { createTemplateSource, type TemplateSource, toTemplateUrl } from './template-source.ts'

export interface RenderedMail {
  readonly subject: string
  readonly html: string
  readonly text: string
}

export type MessageName = MailKind | NotificationMessage

export interface MailPreview extends RenderedMail {
  /** Why the configured template is not used; undefined if it is used or none is configured. */
  readonly problem: string | undefined
}

export interface MailRenderer {
  /** @throws {UndeliverableError} if the kind of message is unknown or disabled. */
  render(kind: string, variables: unknown): Promise<RenderedMail>
  /** Renders a message for an operator, also if it is disabled. */
  preview(name: MessageName, variables: unknown): Promise<MailPreview>
}

export interface MailRendererSettings {
  readonly mail: Pick<MailConfig, 'messages' | 'notifications' | 'templates'>
  /** The host of the site may be in the internal network, because it often serves the templates. */
  readonly siteUrl: string
  readonly log: Pick<Log, 'warning' | 'info'>
  /** For tests. */
  readonly fetching?: Partial<FetchSettings>
}

/** Timeout for fetching a template. */
const fetchTimeoutMs = 10_000

/** The templates of one kind of message. */
interface Kind {
  readonly subject: Template
  readonly builtIn: Template
  readonly source: TemplateSource | undefined
}

/** If a configured template cannot be fetched or rendered, the built-in one is used instead. */
export function createMailRenderer(settings: MailRendererSettings): MailRenderer {
  const { notifications } = settings.mail
  const enabled = messageNames.filter((name) => isMailKind(name) || notifications[name].isEnabled)
  const kinds = new Map<string, Kind>(
    enabled.map((name) => [name, createKind(name, toMessageConfig(settings.mail, name), settings)]),
  )
  /** Only for previews. */
  const disabled = new Map<string, Kind>()
  return {
    async render(name, variables) {
      const kind = kinds.get(name)
      if (kind === undefined) throw new UndeliverableError(`Unknown message ${name}`)
      const { subject, html, text } = await renderKind(kind, variables)
      return { subject, html, text }
    },
    preview(name, variables) {
      const kind =
        kinds.get(name) ??
        disabled.get(name) ??
        createKind(name, toMessageConfig(settings.mail, name), settings)
      if (!kinds.has(name)) disabled.set(name, kind)
      return renderKind(kind, variables)
    },
  }
}

/** The names of all messages. */
export const messageNames: readonly MessageName[] = [
  ...mailKinds,
  ...notificationKinds.map((kind): NotificationMessage => `${kind}_notification`),
]

export function isMailKind(name: MessageName): name is MailKind {
  return (mailKinds as readonly string[]).includes(name)
}

function toMessageConfig(
  { messages, notifications }: MailRendererSettings['mail'],
  name: MessageName,
): Pick<MessageConfig, 'subject' | 'templateUrl'> {
  return isMailKind(name) ? messages[name] : notifications[name]
}

async function renderKind(
  { subject, builtIn, source }: Kind,
  variables: unknown,
): Promise<MailPreview> {
  const { html, problem } = await renderFrom(source, variables)
  const used = html ?? builtIn.render(variables)
  return { subject: subject.render(variables), html: used, text: htmlToText(used), problem }
}

interface RenderedSource {
  readonly html?: string | undefined
  readonly problem?: string | undefined
}

async function renderFrom(
  source: TemplateSource | undefined,
  variables: unknown,
): Promise<RenderedSource> {
  try {
    const html = (await source?.find())?.render(variables)
    return { html, problem: source?.problem }
  } catch (error) {
    const problem = toReason(error)
    source?.reportRenderFailure(problem)
    return { problem }
  }
}

function createKind(
  name: MessageName,
  { subject, templateUrl }: Pick<MessageConfig, 'subject' | 'templateUrl'>,
  settings: MailRendererSettings,
): Kind {
  return {
    // The configuration check has rejected invalid templates.
    subject: parseLineTemplate(subject),
    builtIn: parseHtmlTemplate(readBuiltInTemplate(name)),
    source: templateUrl === '' ? undefined : toSource(name, templateUrl, settings),
  }
}

function toSource(
  name: MessageName,
  templateUrl: string,
  { mail, siteUrl, log, fetching }: MailRendererSettings,
): TemplateSource | undefined {
  const url = toTemplateUrl(templateUrl, siteUrl)
  if (url === undefined) {
    log.warning(
      `The template of the ${name} message has an invalid URL; the built-in template is used`,
    )
    return undefined
  }
  const { maxBytes, maxAgeMs, retryMs } = mail.templates
  const internalHosts = [URL.parse(siteUrl)?.hostname ?? '', ...mail.templates.internalHosts]
  return createTemplateSource({
    ...{ url, name, maxAgeMs, retryMs, log },
    fetching: { timeoutMs: fetchTimeoutMs, maxBytes, internalHosts, ...fetching },
  })
}

const read = (file: string) =>
  readFileSync(join(import.meta.dirname, 'templates', file), 'utf8').trimEnd()

/**
 * Returns the built-in page of a message. The first line of its file is the heading, which is also
 * used as the title; the layout is in a separate file.
 */
function readBuiltInTemplate(name: string): string {
  const [heading = '', ...lines] = read(`${name.replaceAll('_', '-')}.html`).split('\n')
  const content = lines.join(`\n${' '.repeat(16)}`)
  return `${read('layout.html')}\n`
    .replaceAll('TITLE', heading.replaceAll(/<\/?h1>/g, ''))
    .replace('CONTENT', () => content)
}
