import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@portcullis/service-kit/log'
import { toReason } from '@portcullis/service-kit/reason'
import type { MailConfig } from '../../config/mail.ts'
import {
  type MailKind,
  type MessageConfig,
  mailKinds,
  type NotificationMessage,
  notificationKinds,
} from '../../config/mail-messages.ts'
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

export interface MailRenderer {
  /** @throws {UndeliverableError} if the kind of message is unknown or disabled. */
  render(kind: string, variables: unknown): Promise<RenderedMail>
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
  const { messages, notifications } = settings.mail
  const enabled = notificationKinds
    .map((kind): NotificationMessage => `${kind}_notification`)
    .filter((name) => notifications[name].isEnabled)
  const kinds = new Map<string, Kind>([
    ...mailKinds.map((name) => [name, createKind(name, messages[name], settings)] as const),
    ...enabled.map((name) => [name, createKind(name, notifications[name], settings)] as const),
  ])
  return {
    async render(name, variables) {
      const kind = kinds.get(name)
      if (kind === undefined) throw new UndeliverableError(`Unknown message ${name}`)
      const { subject, builtIn, source } = kind
      const html = (await renderFrom(source, variables)) ?? builtIn.render(variables)
      return { subject: subject.render(variables), html, text: htmlToText(html) }
    },
  }
}

async function renderFrom(
  source: TemplateSource | undefined,
  variables: unknown,
): Promise<string | undefined> {
  try {
    return (await source?.find())?.render(variables)
  } catch (error) {
    source?.reportRenderFailure(toReason(error))
    return undefined
  }
}

type MessageName = MailKind | NotificationMessage

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
export function readBuiltInTemplate(name: string): string {
  const [heading = '', ...lines] = read(`${name.replaceAll('_', '-')}.html`).split('\n')
  const content = lines.join(`\n${' '.repeat(16)}`)
  return `${read('layout.html')}\n`
    .replaceAll('TITLE', heading.replaceAll(/<\/?h1>/g, ''))
    .replace('CONTENT', () => content)
}
