import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { User } from '../../../console/routes/users-upstream.ts'
import { useActions } from '../../actions.ts'
import { Button } from '../../components/button.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'
import { showFailure } from '../../components/toasts.tsx'
import { formatCountOf } from '../../format.ts'
import { noteStepDone, useSession } from '../../session.ts'
import { BulkBar } from './bulk/bulk-bar.tsx'
import { CreateUserDialog, InviteUserDialog } from './dialogs/new-user-dialogs.tsx'
import { FailuresView } from './failures-view.tsx'
import { readSelectable, useSelection } from './list/selection.ts'
import { UserBrowser } from './list/user-browser.tsx'
import { userListId } from './list/user-list.tsx'
import { useUserPages } from './list/user-pages.ts'
import { useViewSettings } from './list/view-settings.ts'
import { UserPanel } from './panel/user-panel.tsx'
import type { Search } from './search.ts'
import { UsersToolbar } from './toolbar/users-toolbar.tsx'
import { useListKeys } from './use-list-keys.ts'
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

const keys = { search: '.user-search input', listId: userListId }

function Users(): JSX.Element {
  const address = useUsersAddress()
  const { search, userId } = address
  const { pages, isBusy } = useUserPages(search)
  const [view, setView] = useViewSettings()
  const selection = useSelection()
  const [opened, setOpened] = useState<keyof typeof dialogs>()
  const OpenDialog = opened && dialogs[opened]
  const leaving = useRef(new AbortController())
  useListKeys(keys)
  // Users that another search does not show must not stay selected. A layout effect runs before any action.
  const { text, filters } = search
  useLayoutEffect(() => {
    selection.set([])
    leaving.current = new AbortController()
    return () => leaving.current.abort()
  }, [text, JSON.stringify(filters)])
  const selectAll = async () => {
    const { signal } = leaving.current
    try {
      const users = await readSelectable(search, signal)
      if (!signal.aborted) selection.set(users)
    } catch (error) {
      if (!signal.aborted) showFailure(error)
    }
  }
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
      <PageHeader title="Users" summary={toSummary(pages?.total, search)}>
        <UserViews shown="users" />
        <Button icon="mailbox" onClick={() => setOpened('invite')}>
          Invite user
        </Button>
        <Button icon="plus" kind="primary" onClick={() => setOpened('create')}>
          Create user
        </Button>
      </PageHeader>
      <UsersToolbar address={address} total={pages?.total} view={view} onView={setView} />
      <BulkBar selection={selection} onChanged={() => pages?.reload()} />
      <div class="users-layout">
        <UserBrowser
          pages={pages}
          isBusy={isBusy}
          address={address}
          view={view}
          selection={selection}
          onSelectAll={selectAll}
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
              selection.set(selection.users.filter(({ id }) => id !== userId))
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

function toSummary(total: number | undefined, { text, filters }: Search): string {
  if (total === undefined) return 'All user accounts.'
  const users = formatCountOf(total, 'user')
  const count = Object.keys(filters).length
  const filtered = count === 0 ? '' : count === 1 ? 'one filter' : `${count} filters`
  const searched = text === '' ? '' : `“${text}”`
  const criteria = [searched, filtered].filter(Boolean).join(' and ')
  return criteria === '' ? `${users} in total` : `${users} matching ${criteria}`
}
