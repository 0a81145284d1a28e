import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { MailboxListing } from '../../../console/routes/mailbox.ts'
import { callApi } from '../../api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { tellDone, tellFailure } from '../../components/toasts.tsx'
import { useSession } from '../../session.ts'
import { useLoaded } from '../../use-loaded.ts'
import { useMailboxNews } from './mailbox-count.tsx'
import { MessageList } from './message-list.tsx'
import { MessageReader, toMessagePath } from './message-reader.tsx'

const summary =
  'Every mail and text message that would have been sent. Nothing leaves this machine.'

export function Page(): JSX.Element {
  if (useSession().parts.mailbox) return <RunningMailbox />
  return (
    <>
      <PageHeader title="Mailbox" summary={summary} />
      <Empty icon="mailbox" title="This console has no mailbox">
        It comes with <code>portcullis up</code>; with <code>--only</code>, name{' '}
        <code>mailbox</code> too. An auth server that sends real messages has none to show here.
      </Empty>
    </>
  )
}

function RunningMailbox(): JSX.Element {
  const { search } = useMailboxAddress()
  const { isConnected, state } = useMailboxNews()
  const path = `/api/mailbox/messages?${new URLSearchParams({ q: search })}`
  // Whenever the mailbox says something, the list is asked for again.
  const listing = useLoaded((signal) => callApi<MailboxListing>(path, { signal }), [path, state])
  const [isClearing, setClearing] = useState(false)
  const total = listing.state === 'ready' ? listing.value.total : 0
  return (
    <>
      <PageHeader title="Mailbox" summary={summary}>
        {state && (
          <Badge tone={isConnected ? 'ok' : 'warn'} hasDot>
            {isConnected ? 'Live' : 'Connecting…'}
          </Badge>
        )}
        {total > 0 && (
          <Button icon="trash" onClick={() => setClearing(true)}>
            Clear
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
  // One that was deleted elsewhere gives way; one that only the search leaves out does not.
  const isThere = address.search !== '' || messages.some(({ id }) => id === address.messageId)
  const selectedId = (isThere ? address.messageId : undefined) ?? messages[0]?.id
  if (total === 0) return <NoMessages smtpAddress={smtpAddress} />

  const select = (id: string) => {
    address.go({ id })
    // Where the message is below the list.
    if (reader.current && reader.current.getBoundingClientRect().top > innerHeight / 2) {
      reader.current.scrollIntoView({ block: 'start', behavior: 'smooth' })
    }
  }
  const remove = async (id: string) => {
    const at = messages.findIndex((message) => message.id === id)
    try {
      await callApi(toMessagePath(id), { method: 'DELETE' })
      address.go({ id: (messages[at + 1] ?? messages[at - 1])?.id ?? '' })
      tellDone('The message is deleted.')
    } catch (error) {
      tellFailure(error)
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
          <Empty icon="search" title="Nothing found">
            {total === 1 ? 'The only message does not have' : `None of the ${total} messages has`} “
            {address.search}” in it.
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

/** Tells those who do not see the list grow. */
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
            <a href="/try">Sign up on the page “Try it”</a>: the confirmation arrives here by
            itself.{' '}
          </>
        )}
        Any other program can send here, too: SMTP at <code>{smtpAddress}</code>, with any user name
        and password, or none.
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
    tellDone('The mailbox is empty.')
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
        {total === 1 ? 'The message' : `All ${total} messages`} will be deleted. Links and codes in
        them go on working.
      </p>
    </FormDialog>
  )
}

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
