import type { JSX, TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { callApi, isNotFound } from '../../../api.ts'
import { Button, CopyButton } from '../../../components/button.tsx'
import { Empty, Failure, Loading } from '../../../components/states.tsx'
import { Tabs } from '../../../components/tabs.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import { toFullName, toUserName, UserBadges } from '../user-facts.tsx'
import { AccessTab } from './access-tab.tsx'
import { ActivityTab } from './activity-tab.tsx'
import { ProfileTab } from './profile-tab.tsx'
import { SessionsTab } from './sessions-tab.tsx'
import { SignInTab } from './sign-in-tab.tsx'
import type { Tab } from './tab.ts'
import { UserActions } from './user-actions.tsx'

interface UserPanelProps {
  readonly userId: string
  readonly tab: string | undefined
  readonly onTab: (tab: string) => void
  readonly onClose: () => void
  readonly onChanged: (user: User) => void
  readonly onDeleted: () => void
}

/** All details of one user, beside the list. */
export function UserPanel(props: UserPanelProps): JSX.Element {
  const { userId, onClose } = props
  const loaded = useLoaded(
    (signal) => callApi<User>(`/api/users/${encodeURIComponent(userId)}`, { signal }),
    [userId],
  )
  const press = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const isInDialog = event.target instanceof Element && event.target.closest('dialog') !== null
    if (event.key === 'Escape' && !isInDialog) onClose()
  }
  return (
    <aside class="card user-panel" aria-label="User details" onKeyDown={press}>
      <span class="close">
        <Button kind="quiet" size="small" icon="close" label="Close panel" onClick={onClose}>
          {''}
        </Button>
      </span>
      {loaded.state === 'loading' && <Loading />}
      {loaded.state === 'failed' && <Missing error={loaded.error} onRetry={loaded.reload} />}
      {loaded.state === 'ready' && <Details {...props} loaded={loaded.value} />}
    </aside>
  )
}

function Missing({
  error,
  onRetry,
}: {
  readonly error: unknown
  readonly onRetry: () => void
}): JSX.Element {
  if (!isNotFound(error)) return <Failure error={error} onRetry={onRetry} />
  return (
    <Empty icon="users" title="User not found">
      The account was deleted, or the ID in the URL is wrong.
    </Empty>
  )
}

function Details(props: UserPanelProps & { readonly loaded: User }): JSX.Element {
  const { loaded, tab, onTab, onChanged, onDeleted } = props
  const [user, setUser] = useState(loaded)
  const heading = useRef<HTMLHeadingElement>(null)
  // A layout effect, so that the next key press goes to the panel.
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const change = (changed: User) => {
    setUser(changed)
    onChanged(changed)
  }
  const shown = tabs.find(({ name }) => name === tab) ?? tabs[0]
  const fullName = toFullName(user)
  return (
    <>
      <header class="user-heading">
        <h2 ref={heading} tabIndex={-1}>
          {toUserName(user)}
        </h2>
        {fullName !== undefined && <span class="muted">{fullName}</span>}
        <UserBadges user={user} />
        <span class="row tight">
          <span class="mono muted small user-id">{user.id}</span>
          <CopyButton text={user.id} label="Copy ID" />
        </span>
        <UserActions user={user} onChange={change} onDeleted={onDeleted} />
      </header>
      <Tabs label="User details" class="user-tabs" tabs={tabs} shown={shown.name} onShow={onTab}>
        <shown.component user={user} onChange={change} />
      </Tabs>
    </>
  )
}

/** The first tab is the default. */
const tabs: readonly [Tab, ...Tab[]] = [
  { name: 'profile', title: 'Profile', component: ProfileTab },
  { name: 'sign-in', title: 'Sign-in', component: SignInTab },
  { name: 'sessions', title: 'Sessions', component: SessionsTab },
  { name: 'access', title: 'Access', component: AccessTab },
  { name: 'activity', title: 'Activity', component: ActivityTab },
]
