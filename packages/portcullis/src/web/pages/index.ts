import type { FunctionComponent } from 'preact'
import { lazy } from 'preact-iso'
import type { IconName } from '../components/icons.tsx'
import { PageNotLoaded } from '../components/states.tsx'
import { MailboxCount } from './mailbox/mailbox-count.tsx'

export interface Page {
  readonly path: string
  /** The name in the navigation. */
  readonly title: string
  readonly icon: IconName
  /** Loaded when it is first opened. */
  readonly component: FunctionComponent
  /** A marker beside the name, such as an unread count. */
  readonly marker?: FunctionComponent
  /** Other words under which the command palette finds it. */
  readonly words?: string
}

/** In the order of the navigation. The styles of a page are in its folder and are bundled automatically. */
export const pages: readonly Page[] = [
  page('/', 'Overview', 'overview', () => import('./overview/overview-page.tsx')),
  page('/users', 'Users', 'users', () => import('./users/users-page.tsx'), {
    words: 'accounts failed sign-ins export',
  }),
  page('/access', 'Access', 'key', () => import('./access/access-page.tsx'), {
    words:
      'oauth clients grants custom providers company sign-in saml sso scim api keys service accounts',
  }),
  page('/events', 'Events', 'events', () => import('./events/events-page.tsx'), {
    words: 'audit log failed sign-ins',
  }),
  page('/mailbox', 'Mailbox', 'mailbox', () => import('./mailbox/mailbox-page.tsx'), {
    marker: MailboxCount,
  }),
  page('/limits', 'Limits', 'limits', () => import('./limits/limits-page.tsx'), {
    words: 'rules top keys counters rule files policy tests',
  }),
  page('/graphql-audits', 'GraphQL', 'graphql', () => import('./graphql/graphql-page.tsx'), {
    words: 'audits query editor schema',
  }),
  page('/try', 'Try it', 'try', () => import('./try/try-page.tsx')),
  page('/settings', 'Settings', 'settings', () => import('./settings/settings-page.tsx'), {
    words: 'configuration providers email templates test email',
  }),
]

function page(
  path: string,
  title: string,
  icon: IconName,
  load: () => Promise<{ readonly Page: FunctionComponent }>,
  more: Pick<Page, 'marker' | 'words'> = {},
): Page {
  const component = lazy(() =>
    load().then(
      ({ Page }) => Page,
      () => PageNotLoaded,
    ),
  )
  return { path, title, icon, component, ...more }
}
