import { useLocation } from 'preact-iso'

/** What the address of the page says. */
export interface MailboxAddress {
  readonly search: string
  /** Which message is open; without one it is the newest. */
  readonly messageId: string | undefined
  /** An empty text takes it out. */
  go(changes: Readonly<Partial<Record<'q' | 'id', string>>>): void
}

export function useMailboxAddress(): MailboxAddress {
  const { query, route } = useLocation()
  return {
    search: query['q'] ?? '',
    messageId: query['id'],
    go(changes) {
      const entries = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '')
      // Whoever goes back wants the page before, not the message before.
      route(entries.length === 0 ? '/mailbox' : `/mailbox?${new URLSearchParams(entries)}`, true)
    },
  }
}
