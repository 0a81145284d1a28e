import type { JSX, TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { MessageKind, MessageSummary } from '../../../console/routes/mailbox.ts'
import type { IconName } from '../../components/icons.tsx'
import { Icon } from '../../components/icons.tsx'
import { formatAge, formatTime } from '../../format.ts'
import { useShortcut } from '../../shortcuts.ts'

interface MessageListProps {
  readonly messages: readonly MessageSummary[]
  readonly selectedId: string | undefined
  readonly onSelect: (id: string) => void
  readonly onDelete: (id: string) => void
}

/** The index that a key selects, starting from `index`. */
const steps: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowUp: (index) => index - 1,
  ArrowDown: (index) => index + 1,
  Home: () => 0,
  End: (_index, last) => last,
}

export function MessageList(props: MessageListProps): JSX.Element {
  const { messages, selectedId, onSelect, onDelete } = props
  const list = useRef<HTMLUListElement>(null)
  useShortcut({ keys: 'ArrowUp ArrowDown Home End', label: 'Move between messages' })
  useShortcut({ keys: 'Delete', label: 'Delete the focused message' })
  const now = useNow(10_000)
  // Later messages arrived while the page was open, and are highlighted.
  const newestAtFirst = useRef(messages[0]?.id ?? '')
  const selected = messages.findIndex(({ id }) => id === selectedId)

  const focus = (index: number) => {
    list.current?.children[index]?.querySelector('button')?.focus()
  }
  const press = (event: TargetedKeyboardEvent<HTMLUListElement>) => {
    if (event.key === 'Delete' && selectedId !== undefined) return onDelete(selectedId)
    const target = steps[event.key]?.(selected, messages.length - 1)
    const message = target === undefined ? undefined : messages[target]
    if (target === undefined) return
    event.preventDefault()
    if (message === undefined) return
    onSelect(message.id)
    focus(target)
  }
  // Deleting the focused message would lose the focus.
  const hadFocus = useRef(false)
  useLayoutEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) focus(Math.max(selected, 0))
  }, [messages])

  return (
    <ul
      ref={list}
      class="mailbox-list"
      aria-label="Messages, newest first"
      onKeyDown={press}
      onFocusIn={() => {
        hadFocus.current = true
      }}
      onFocusOut={(event) => {
        if (event.relatedTarget !== null) hadFocus.current = false
      }}
    >
      {messages.map((message, index) => (
        <li key={message.id} class={message.id > newestAtFirst.current ? 'arrived' : undefined}>
          <button
            type="button"
            class="mailbox-item"
            aria-current={index === selected ? 'true' : undefined}
            // A single tab stop; the arrow keys move within the list.
            tabIndex={index === Math.max(selected, 0) ? 0 : -1}
            onClick={() => onSelect(message.id)}
          >
            <MessageLine message={message} now={now} />
          </button>
        </li>
      ))}
    </ul>
  )
}

function MessageLine(props: {
  readonly message: MessageSummary
  readonly now: number
}): JSX.Element {
  const { kind, to, subject, excerpt, receivedAt, isRead } = props.message
  const { icon, name } = kinds[kind]
  const title = kind === 'email' ? subject || '(no subject)' : excerpt
  return (
    <>
      <span class="mark">
        <Icon name={icon} />
        {!isRead && <span class="dot" />}
      </span>
      <span class="hidden">{isRead ? name : `Unread, ${name}`} to</span>
      <span class="to">
        {to[0]}
        {to.length > 1 && ` +${to.length - 1}`}
      </span>
      <time
        class="age"
        dateTime={new Date(receivedAt).toISOString()}
        title={formatTime(receivedAt)}
      >
        {formatAge(Math.min(receivedAt, props.now), props.now)}
      </time>
      <span class="title">{title}</span>
      {kind === 'email' && <span class="excerpt">{withoutTitle(excerpt, title)}</span>}
    </>
  )
}

/** Removes a repeated subject from the start of the excerpt. */
function withoutTitle(excerpt: string, title: string): string {
  const repeats = excerpt.toLowerCase().startsWith(title.toLowerCase())
  return repeats ? excerpt.slice(title.length).trim() : excerpt
}

/** The current time, updated at an interval, for relative times. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

export const kinds: Readonly<
  Record<MessageKind, { readonly icon: IconName; readonly name: string }>
> = {
  email: { icon: 'mailbox', name: 'Email' },
  sms: { icon: 'phone', name: 'SMS' },
  whatsapp: { icon: 'chat', name: 'WhatsApp' },
}
