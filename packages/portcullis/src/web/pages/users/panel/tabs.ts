import type { FunctionComponent } from 'preact'
import type { User } from '../../../../console/routes/users-records.ts'
import { ActivityTab } from './activity-tab.tsx'
import { ProfileTab } from './profile-tab.tsx'
import { SessionsTab } from './sessions-tab.tsx'
import { SignInTab } from './sign-in-tab.tsx'

export interface TabProps {
  readonly user: User
  readonly onChange: (user: User) => void
}

export interface Tab {
  /** In the address. */
  readonly name: string
  readonly title: string
  readonly component: FunctionComponent<TabProps>
}

/** The first is the one that is shown without being asked for. */
export const tabs: readonly [Tab, ...Tab[]] = [
  { name: 'profile', title: 'Profile', component: ProfileTab },
  { name: 'sign-in', title: 'Sign-in', component: SignInTab },
  { name: 'sessions', title: 'Sessions', component: SessionsTab },
  { name: 'activity', title: 'Activity', component: ActivityTab },
]
