import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { User } from '../../../console/routes/users-upstream.ts'
import { useActions } from '../../actions.ts'
import { Button } from '../../components/button.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Empty } from '../../components/states.tsx'
import { formatNumber } from '../../format.ts'
import { noteStepDone, useSession } from '../../session.ts'
import { CreateUserDialog, InviteUserDialog } from './dialogs/new-user-dialogs.tsx'
import { FailuresView } from './failures-view.tsx'
import { UserBrowser } from './list/user-browser.tsx'
import { userListId } from './list/user-list.tsx'
import { useUserPages } from './list/user-pages.ts'
import { UserPanel } from './panel/user-panel.tsx'
import { useUsersAddress } from './use-users-address.ts'
import { UserViews } from './user-views.tsx'

export function Page(): JSX.Element {
  const { parts } = useSession()
  const { query } = useLocation()
  if (!parts.auth) return <NoAuthServer />
  return query['view'] === 'failures' ? <FailuresView /> : <Users />
}

function NoAuthServer(): JSX.Element {
  return (
    <>
      <PageHeader title="Users" summary="All user accounts." />
      <Empty icon="users" title="No auth server">
        Start everything with <code>portcullis up</code>, or start the console with{' '}
        <code>portcullis console --auth-url URL --auth-key KEY</code>. The key must be a service key
        of the auth server.
      </Empty>
    </>
  )
}

const dialogs = { create: CreateUserDialog, invite: InviteUserDialog }

function Users(): JSX.Element {
  const address = useUsersAddress()
  const { search, userId } = address
  const { pages, isBusy } = useUserPages(search)
  const [opened, setOpened] = useState<keyof typeof dialogs>()
  const OpenDialog = opened && dialogs[opened]
  const showNew = (user: User) => {
    noteStepDone('/users')
    pages?.reload()
    address.go({ id: user.id })
  }
  useActions([
    { label: 'Create user', icon: 'plus', words: 'new add', run: () => setOpened('create') },
    { label: 'Invite user', icon: 'mailbox', words: 'new add', run: () => setOpened('invite') },
  ])
  return (
    <div class={userId === undefined ? 'users' : 'users with-panel'}>
      <PageHeader title="Users" summary={toSummary(pages?.total, search.text)}>
        <UserViews shown="users" />
        <Button icon="mailbox" onClick={() => setOpened('invite')}>
          Invite user
        </Button>
        <Button icon="plus" kind="primary" onClick={() => setOpened('create')}>
          Create user
        </Button>
      </PageHeader>
      <SearchField
        text={search.text}
        label="Search users"
        placeholder="Email, phone, name or ID"
        pauseMs={250}
        class="user-search"
        onSearch={(text) => address.go({ q: text }, { isReplacing: true })}
      />
      <div class="users-layout">
        <UserBrowser
          pages={pages}
          isBusy={isBusy}
          address={address}
          onCreate={() => setOpened('create')}
        />
        {userId !== undefined && (
          <UserPanel
            key={userId}
            userId={userId}
            tab={address.tab}
            onTab={(tab) => address.go({ tab }, { isReplacing: true })}
            onClose={() => {
              address.go({ id: '', tab: '' })
              document.getElementById(userListId)?.focus({ preventScroll: true })
            }}
            onChanged={(user) => pages?.replace(user)}
            onDeleted={() => {
              pages?.reload()
              address.go({ id: '', tab: '' }, { isReplacing: true })
            }}
          />
        )}
      </div>
      {OpenDialog && <OpenDialog onDone={showNew} onClose={() => setOpened(undefined)} />}
    </div>
  )
}

function toSummary(total: number | undefined, text: string): string {
  if (total === undefined) return 'All user accounts.'
  const users = `${formatNumber(total)} ${total === 1 ? 'user' : 'users'}`
  return text === '' ? `${users} in total` : `${users} matching “${text}”`
}
