import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MailboxListing } from '../../../console/routes/mailbox.ts'
import { useActions } from '../../actions.ts'
import { callApi } from '../../api.ts'
import { Button } from '../../components/button.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { LiveBadge } from '../../components/live-badge.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { showFailure, showSuccess } from '../../components/toasts.tsx'
import { useSession } from '../../session.ts'
import { useLoaded } from '../../use-loaded.ts'
import { usePageLocation } from '../../use-page-location.ts'
import { useMailboxUpdate } from './mailbox-count.tsx'
import { MessageList } from './message-list.tsx'
import { MessageReader, toMessagePath } from './message-reader.tsx'

const summary = 'All caught emails and text messages. Nothing is delivered.'

export function Page(): JSX.Element {
  if (useSession().parts.mailbox) return <RunningMailbox />
  return (
    <>
      <PageHeader title="Mailbox" summary={summary} />
      <Empty icon="mailbox" title="This console has no mailbox">
        Start one with <code>portcullis up</code>; if you use <code>--only</code>, include{' '}
        <code>mailbox</code>. Messages that an auth server really sends do not appear here.
      </Empty>
    </>
  )
}

function RunningMailbox(): JSX.Element {
  const { search } = useMailboxAddress()
  const { isConnected, state } = useMailboxUpdate()
  const path = `/api/mailbox/messages?${new URLSearchParams({ q: search })}`
  // The list is reloaded on every mailbox event.
  const listing = useLoaded((signal) => callApi<MailboxListing>(path, { signal }), [path, state])
  const [isClearing, setClearing] = useState(false)
  const total = listing.state === 'ready' ? listing.value.total : 0
  const clear = () => setClearing(true)
  useActions(total > 0 ? [{ label: 'Clear mailbox', icon: 'trash', run: clear }] : [])
  return (
    <>
      <PageHeader title="Mailbox" summary={summary}>
        {state && <LiveBadge isLive={isConnected} />}
        {total > 0 && (
          <Button icon="trash" onClick={clear}>
            Clear mailbox
          </Button>
        )}
      </PageHeader>
      {listing.state === 'loading' && <Loading />}
      {listing.state === 'failed' && <Failure error={listing.error} onRetry={listing.reload} />}
      {listing.state === 'ready' && <Messages listing={listing.value} />}
      {isClearing && <ClearDialog total={total} onClose={() => setClearing(false)} />}
    </>
  )
}

function Messages({ listing }: { readonly listing: MailboxListing }): JSX.Element {
  const { messages, total, smtpAddress } = listing
  const address = useMailboxAddress()
  const reader = useRef<HTMLDivElement>(null)
  // A message that was deleted elsewhere is closed; one that only does not match the search stays open.
  const isThere = address.search !== '' || messages.some(({ id }) => id === address.messageId)
  const selectedId = (isThere ? address.messageId : undefined) ?? messages[0]?.id
  if (total === 0) return <NoMessages smtpAddress={smtpAddress} />

  const select = (id: string) => {
    address.go({ id })
    // On narrow screens the message is below the list.
    if (reader.current && reader.current.getBoundingClientRect().top > innerHeight / 2) {
      reader.current.scrollIntoView({ block: 'start', behavior: 'smooth' })
    }
  }
  const remove = async (id: string) => {
    const at = messages.findIndex((message) => message.id === id)
    try {
      await callApi(toMessagePath(id), { method: 'DELETE' })
      address.go({ id: (messages[at + 1] ?? messages[at - 1])?.id ?? '' })
      showSuccess('Message deleted.')
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <div class="card mailbox">
      <div class="mailbox-side">
        <SearchField
          text={address.search}
          label="Search messages"
          placeholder="Address, subject or code"
          pauseMs={150}
          class="mailbox-search"
          onSearch={(q) => address.go({ q, id: '' })}
        />
        {messages.length > 0 ? (
          <MessageList
            messages={messages}
            selectedId={selectedId}
            onSelect={select}
            onDelete={remove}
          />
        ) : (
          <Empty icon="search" title="No matching messages">
            {total === 1
              ? 'The only message does not contain'
              : `None of the ${total} messages contains`}{' '}
            “{address.search}”.
          </Empty>
        )}
        <p class="mailbox-foot muted small">
          SMTP at <code>{smtpAddress}</code>
        </p>
      </div>
      <div ref={reader} class="mailbox-reader">
        {selectedId !== undefined && <MessageReader id={selectedId} onDelete={remove} />}
      </div>
      <Announcer listing={listing} />
    </div>
  )
}

/** Announces new messages to screen readers. */
function Announcer({ listing }: { readonly listing: MailboxListing }): JSX.Element {
  const [words, setWords] = useState('')
  const [newest] = listing.messages
  const known = useRef(newest?.id ?? '')
  useEffect(() => {
    if (newest === undefined || newest.id <= known.current) return
    known.current = newest.id
    setWords(`New message to ${newest.to.join(', ')}: ${newest.subject || newest.excerpt}`)
  }, [newest?.id])
  return (
    <p class="hidden" role="status">
      {words}
    </p>
  )
}

function NoMessages({ smtpAddress }: { readonly smtpAddress: string }): JSX.Element {
  const { auth } = useSession().parts
  return (
    <div class="card">
      <Empty icon="mailbox" title="No messages yet">
        {auth && (
          <>
            <a href="/try">Sign up on the page “Try it”</a>: the confirmation mail appears here
            automatically.{' '}
          </>
        )}
        Other programs can send mail here too: use SMTP at <code>{smtpAddress}</code>, with or
        without a user name and password.
      </Empty>
    </div>
  )
}

function ClearDialog(props: { readonly total: number; readonly onClose: () => void }): JSX.Element {
  const { go } = useMailboxAddress()
  const { total, onClose } = props
  const clear = async () => {
    await callApi('/api/mailbox/messages', { method: 'DELETE' })
    go({ id: '', q: '' })
    showSuccess('All messages deleted.')
  }
  return (
    <FormDialog
      title="Clear the mailbox?"
      action="Delete all"
      kind="danger"
      onSubmit={clear}
      onClose={onClose}
    >
      <p>
        {total === 1 ? 'The message' : `All ${total} messages`} will be deleted. Links and one-time
        codes in them remain valid.
      </p>
    </FormDialog>
  )
}

/** The state in the page's URL. */
export interface MailboxAddress {
  readonly search: string
  /** The open message; default: the newest. */
  readonly messageId: string | undefined
  /** An empty value removes the parameter. */
  go(changes: Readonly<Partial<Record<'q' | 'id', string>>>): void
}

export function useMailboxAddress(): MailboxAddress {
  const { query, route } = usePageLocation()
  return {
    search: query['q'] ?? '',
    messageId: query['id'],
    go(changes) {
      const entries = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '')
      // Replaces the history entry, so that Back leads to the previous page, not the previous message.
      route(entries.length === 0 ? '/mailbox' : `/mailbox?${new URLSearchParams(entries)}`, true)
    },
  }
}
