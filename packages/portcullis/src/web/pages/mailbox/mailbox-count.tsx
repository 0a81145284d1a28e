import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { MailboxState } from '../../../console/routes/mailbox.ts'
import { useSession } from '../../session.ts'

/** The number of unread messages, in the navigation. */
export function MailboxCount(): JSX.Element | null {
  return useSession().parts.mailbox ? <Count /> : null
}

function Count(): JSX.Element | null {
  const unread = useMailboxUpdate().state?.unread ?? 0
  if (unread === 0) return null
  return (
    <span class="count badge tone-accent">
      {unread > 99 ? '99+' : unread}
      <span class="hidden"> unread</span>
    </span>
  )
}

/** The latest state of the mailbox; a new object on every event. */
export interface MailboxUpdate {
  readonly isConnected: boolean
  readonly state: MailboxState | undefined
}

const disconnected: MailboxUpdate = { isConnected: false, state: undefined }
const listeners = new Set<(update: MailboxUpdate) => void>()
let source: EventSource | undefined
let update = disconnected

/**
 * Receives mailbox events over one connection that all components share. Hidden pages disconnect, because
 * browsers allow only six connections per site. The first event of a connection contains the state.
 */
export function useMailboxUpdate(): MailboxUpdate {
  const [shown, setShown] = useState(update)
  useEffect(() => {
    listeners.add(setShown)
    setShown(update)
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
  source.onerror = () => publish({ ...update, isConnected: false })
  source.addEventListener('state', (event) => {
    publish({ isConnected: true, state: JSON.parse(event.data) })
  })
}

function disconnect(): void {
  source?.close()
  source = undefined
}

function publish(next: MailboxUpdate): void {
  update = next
  for (const listener of listeners) listener(next)
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) disconnect()
  else if (listeners.size > 0) connect()
})
