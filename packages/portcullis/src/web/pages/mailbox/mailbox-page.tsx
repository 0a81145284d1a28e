import type { JSX } from 'preact'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'

export function MailboxPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Mailbox" summary="Not built yet." />
      <Empty icon="mailbox" title="Nothing here yet" />
    </>
  )
}
