import type { FunctionComponent } from 'preact'
import { lazy } from 'preact-iso'
import type { IconName } from '../components/icons.tsx'
import { MailboxCount } from './mailbox/mailbox-count.tsx'
import { PageNotLoaded } from './page-not-loaded.tsx'

export interface Page {
  readonly path: string
  /** In the list at the side. */
  readonly title: string
  readonly icon: IconName
  /** Beside the title, for what should not be missed. */
  readonly marker?: FunctionComponent
  /** Loaded when it is first opened. */
  readonly component: FunctionComponent
}

/** In the order of the list at the side. */
export const pages: readonly Page[] = [
  {
    path: '/',
    title: 'Overview',
    icon: 'overview',
    component: lazyPage(async () => (await import('./overview/overview-page.tsx')).OverviewPage),
  },
  {
    path: '/users',
    title: 'Users',
    icon: 'users',
    component: lazyPage(async () => (await import('./users/users-page.tsx')).UsersPage),
  },
  {
    path: '/mailbox',
    title: 'Mailbox',
    icon: 'mailbox',
    marker: MailboxCount,
    component: lazyPage(async () => (await import('./mailbox/mailbox-page.tsx')).MailboxPage),
  },
  {
    path: '/limits',
    title: 'Limits',
    icon: 'limits',
    component: lazyPage(async () => (await import('./limits/limits-page.tsx')).LimitsPage),
  },
  {
    path: '/graphql-audits',
    title: 'GraphQL',
    icon: 'graphql',
    component: lazyPage(async () => (await import('./graphql/graphql-page.tsx')).GraphqlPage),
  },
  {
    path: '/try',
    title: 'Try it',
    icon: 'try',
    component: lazyPage(async () => (await import('./try/try-page.tsx')).TryPage),
  },
]

function lazyPage(load: () => Promise<FunctionComponent>): FunctionComponent {
  return lazy(() => load().catch(() => PageNotLoaded))
}
