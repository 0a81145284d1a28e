import { ActivityTab } from './activity-tab.tsx'
import { ProfileTab } from './profile-tab.tsx'
import { SessionsTab } from './sessions-tab.tsx'
import { SignInTab } from './sign-in-tab.tsx'
import type { Tab } from './tab.ts'

/** The first is the one that is shown without being asked for. */
export const tabs: readonly [Tab, ...Tab[]] = [
  { name: 'profile', title: 'Profile', component: ProfileTab },
  { name: 'sign-in', title: 'Sign-in', component: SignInTab },
  { name: 'sessions', title: 'Sessions', component: SessionsTab },
  { name: 'activity', title: 'Activity', component: ActivityTab },
]
