import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { MailboxState } from '../../../console/routes/mailbox.ts'
import { useSession } from '../../session.ts'

/** How many messages nobody has read, beside the name of the page. */
export function MailboxCount(): JSX.Element | null {
  return useSession().parts.mailbox ? <Count /> : null
}

function Count(): JSX.Element | null {
  const unread = useMailboxNews().state?.unread ?? 0
  if (unread === 0) return null
  return (
    <span class="count badge tone-accent">
      {unread > 99 ? '99+' : unread}
      <span class="hidden"> unread</span>
    </span>
  )
}

/** What the mailbox last said of itself; a new object each time. */
export interface MailboxNews {
  readonly isConnected: boolean
  readonly state: MailboxState | undefined
}

const silence: MailboxNews = { isConnected: false, state: undefined }
const listeners = new Set<(news: MailboxNews) => void>()
let source: EventSource | undefined
let news = silence

/**
 * Listens to the mailbox, on one connection for all who ask. A hidden page lets go of it: browsers have six
 * for a site, and people have more windows. The first thing that a new connection tells is the state.
 */
export function useMailboxNews(): MailboxNews {
  const [shown, setShown] = useState(news)
  useEffect(() => {
    listeners.add(setShown)
    setShown(news)
    connect()
    return () => {
      listeners.delete(setShown)
      if (listeners.size === 0) disconnect()
    }
  }, [])
  return shown
}

function connect(): void {
  if (source !== undefined || document.hidden) return
  source = new EventSource('/api/mailbox/events')
  source.onerror = () => tell({ ...news, isConnected: false })
  source.addEventListener('state', (event) => {
    tell({ isConnected: true, state: JSON.parse(event.data) })
  })
}

function disconnect(): void {
  source?.close()
  source = undefined
}

function tell(next: MailboxNews): void {
  news = next
  for (const listener of listeners) listener(next)
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) disconnect()
  else if (listeners.size > 0) connect()
})
