import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type {
  AttachmentSummary,
  MessageDetails,
  MessageLink,
  MessageSource,
} from '../../../console/routes/mailbox.ts'
import { callApi } from '../../api.ts'
import { Button, CopyButton } from '../../components/button.tsx'
import { Icon } from '../../components/icons.tsx'
import { Failure, Loading, Notice } from '../../components/states.tsx'
import { type Tab, Tabs } from '../../components/tabs.tsx'
import { formatAge, formatNumber, formatTime } from '../../format.ts'
import { useLoaded } from '../../use-loaded.ts'
import { kinds, useNow } from './message-list.tsx'

interface MessageReaderProps {
  readonly id: string
  readonly onDelete: (id: string) => unknown
}

/** A message counts as read after it has been shown for this long. */
const readAfterMs = 700

export function toMessagePath(id: string): string {
  return `/api/mailbox/messages/${encodeURIComponent(id)}`
}

export function MessageReader({ id, onDelete }: MessageReaderProps): JSX.Element {
  const path = toMessagePath(id)
  const loaded = useLoaded((signal) => callApi<MessageDetails>(path, { signal }), [path])
  const unreadPath =
    loaded.state === 'ready' && !loaded.value.isRead ? toMessagePath(loaded.value.id) : undefined
  useEffect(() => {
    if (unreadPath === undefined) return
    const timer = setTimeout(() => {
      // A failure is harmless: the message stays marked as unread.
      callApi(`${unreadPath}/read`, { method: 'POST' }).catch(() => undefined)
    }, readAfterMs)
    return () => clearTimeout(timer)
  }, [unreadPath])
  if (loaded.state === 'loading') return <Loading />
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  return <Message message={loaded.value} onDelete={onDelete} />
}

function Message(props: {
  readonly message: MessageDetails
  readonly onDelete: (id: string) => unknown
}): JSX.Element {
  const { message, onDelete } = props
  const { id, kind, subject, from, to, receivedAt, attachments } = message
  const now = useNow(10_000)
  const { name } = kinds[kind]
  return (
    <article class="mail" aria-label={subject || `${name} to ${to.join(', ')}`}>
      <header>
        <h2>{kind === 'email' ? subject || '(no subject)' : `${name} message`}</h2>
        <Button kind="quiet" size="small" icon="trash" onClick={() => onDelete(id)}>
          Delete
        </Button>
      </header>
      <dl class="mail-facts">
        {from !== '' && <Fact name="From">{from}</Fact>}
        <Fact name="To">{to.join(', ')}</Fact>
        <Fact name="Received">
          {formatTime(receivedAt)}{' '}
          <span class="muted nowrap">· {formatAge(Math.min(receivedAt, now), now)}</span>
        </Fact>
      </dl>
      <MessageActions message={message} />
      {attachments.length > 0 && <Attachments id={id} attachments={attachments} />}
      {kind === 'email' ? <Views message={message} /> : <p class="mail-bubble">{message.text}</p>}
    </article>
  )
}

function Fact(props: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  )
}

/** The first view is the default. A chosen view is kept for other messages that have it. */
function Views({ message }: { readonly message: MessageDetails }): JSX.Element {
  const [chosen, setChosen] = useState('')
  const views = toViews(message)
  const shown = views.find(({ name }) => name === chosen) ?? views[0]
  return (
    <Tabs
      label="Views of the message"
      class="reader-tabs"
      tabs={views}
      shown={shown?.name ?? ''}
      onShow={setChosen}
    >
      {shown?.content()}
    </Tabs>
  )
}

interface View extends Tab<string> {
  readonly content: () => ComponentChildren
}

function toViews({ id, hasHtml, text }: MessageDetails): readonly View[] {
  const html: View = { name: 'html', title: 'HTML', content: () => <HtmlFrame id={id} /> }
  return [
    ...(hasHtml ? [html] : []),
    { name: 'text', title: 'Text', content: () => <TextPart text={text} /> },
    { name: 'source', title: 'Source', content: () => <SourcePart id={id} /> },
  ]
}

/** Untrusted HTML: the sandbox blocks scripts, navigation and access to the console's origin. */
function HtmlFrame({ id }: { readonly id: string }): JSX.Element {
  return (
    <>
      <iframe
        key={id}
        class="mail-frame"
        title="HTML version of the message"
        sandbox=""
        src={`${toMessagePath(id)}/html`}
      />
      <p class="muted small">
        Scripts, external images and links are disabled in this view. Open links from the list
        above.
      </p>
    </>
  )
}

function TextPart({ text }: { readonly text: string }): JSX.Element {
  if (text === '') return <p class="muted">The message has no text.</p>
  return <pre class="mail-text">{text}</pre>
}

function SourcePart({ id }: { readonly id: string }): JSX.Element {
  const path = toMessagePath(id)
  const loaded = useLoaded((signal) => callApi<MessageSource>(`${path}/source`, { signal }), [path])
  if (loaded.state === 'loading') return <Loading />
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  const { text, isCut } = loaded.value
  return (
    <div class="stack">
      <div class="row">
        <a class="button small" href={`${path}/download`} download={`message-${id}.eml`}>
          Download
        </a>
        {isCut && (
          <Notice>Only the beginning is shown. Download the message to see all of it.</Notice>
        )}
      </div>
      <pre class="code-block">{text}</pre>
    </div>
  )
}

function Attachments(props: {
  readonly id: string
  readonly attachments: readonly AttachmentSummary[]
}): JSX.Element {
  const path = `${toMessagePath(props.id)}/attachments`
  return (
    <ul class="row tight" aria-label="Attachments">
      {props.attachments.map(({ name, sizeBytes }, index) => (
        // Names need not be unique, so the index is the key.
        <li key={index}>
          <a class="button small" href={`${path}/${index}`} download={name}>
            {name} <span class="muted">{formatNumber(Math.ceil(sizeBytes / 1000))} kB</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The main actions: follow a link, copy a one-time code. */
function MessageActions({ message }: { readonly message: MessageDetails }): JSX.Element {
  const { code, links } = message
  const [main, ...others] = links
  return (
    <div class="mail-actions">
      {main && <MainLink link={main} />}
      {code !== undefined && (
        <section class="mail-action" aria-label="One-time code">
          <h3>One-time code</h3>
          <div class="row">
            <code class="mail-code">{code}</code>
            <CopyButton text={code} label="Copy code" />
          </div>
        </section>
      )}
      {others.length > 0 && <OtherLinks links={others} />}
    </div>
  )
}

function MainLink({ link }: { readonly link: MessageLink }): JSX.Element {
  return (
    <section class="mail-action wide" aria-label="Link">
      <h3>{link.label || 'Link'}</h3>
      <span class="mail-url mono" title={link.url}>
        {link.url}
      </span>
      <div class="row tight">
        {/* In the same window: the link leads back to the console, where the sign-up continues. */}
        <a class="button primary" href={link.url}>
          <Icon name="link" />
          Open link
        </a>
        <CopyButton text={link.url} label="Copy link" />
      </div>
    </section>
  )
}

function OtherLinks({ links }: { readonly links: readonly MessageLink[] }): JSX.Element {
  return (
    <details class="mail-links">
      <summary>{links.length === 1 ? '1 more link' : `${links.length} more links`}</summary>
      <ul>
        {links.map(({ url, label }) => (
          <li key={url} class="row tight">
            <span class="grow">
              {label !== '' && <span>{label} </span>}
              <span class="mail-url mono muted" title={url}>
                {url}
              </span>
            </span>
            <a class="button quiet small" href={url} aria-label={`Open ${label || url}`}>
              Open
            </a>
            <CopyButton text={url} />
          </li>
        ))}
      </ul>
    </details>
  )
}
