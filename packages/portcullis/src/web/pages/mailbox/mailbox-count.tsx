import type { JSX } from 'preact'
import { useSession } from '../../session.ts'
import { useMailboxNews } from './mailbox-feed.ts'

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
