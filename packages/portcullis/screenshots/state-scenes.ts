import type { ShownDomain } from '../src/console/routes/limits.ts'
import type { MessageSummary } from '../src/console/routes/mailbox.ts'
import { showMailbox, waitForMessageFrame } from './mailbox-scene.ts'
import {
  type Prepare,
  showAnswer,
  showLoading,
  showManyEvents,
  showNoKeys,
  showUnreachable,
  toThousand,
} from './page-states.ts'
import { prepareUsers } from './users-scene.ts'

/** The pages that load data before they show anything. */
const paths = {
  overview: '/',
  users: '/users',
  'users-failures': '/users?view=failures',
  access: '/access',
  'access-providers': '/access?tab=providers',
  'access-sso': '/access?tab=sso',
  'access-keys': '/access?tab=keys',
  events: '/events',
  mailbox: '/mailbox',
  limits: '/limits',
  'limits-keys': '/limits?view=keys',
  'limits-files': '/limits?view=files',
  graphql: '/graphql-audits',
  settings: '/settings',
  'settings-providers': '/settings?tab=providers',
  'settings-templates': '/settings?tab=templates',
} as const

/** Creates a scene for each of these pages. */
function eachPage(
  state: string,
  showState: (path: string) => Prepare,
): Readonly<Record<string, Prepare>> {
  const all = Object.entries(paths)
  return Object.fromEntries(all.map(([name, path]) => [`${name}-${state}`, showState(path)]))
}

interface RuleAnswer {
  readonly domains: readonly ShownDomain[]
}

function toManyRules({ domains, ...book }: RuleAnswer): RuleAnswer {
  const toMany = ({ domain, rules }: ShownDomain) => ({
    domain,
    rules: toThousand(rules, (rule, index) => ({
      ...rule,
      value: `example-${index}`,
      path: `${rule.path}-${index}`,
    })),
  })
  return { ...book, domains: domains.map(toMany) }
}

interface MailboxAnswer {
  readonly messages: readonly MessageSummary[]
}

function toManyMessages({ messages, ...listing }: MailboxAnswer): MailboxAnswer {
  const rename = (message: MessageSummary, index: number) => ({
    ...message,
    // The newest message can be opened.
    id: index === 0 ? message.id : `${message.id}-${index}`,
    subject: `Message ${index + 1}`,
  })
  // The list does not show the subjects of text messages.
  const emails = messages.filter(({ kind }) => kind === 'email')
  return { ...listing, messages: toThousand(emails, rename) }
}

const showManyMessages = showAnswer(
  '/mailbox',
  { call: '/api/mailbox/messages', change: toManyMessages },
  'Message 1000',
)

/** Each page with a thousand rows, without any, while it loads, and without a server. */
export const stateScenes: Readonly<Record<string, Prepare>> = {
  'users-many': async (page, world) => {
    await prepareUsers(page, world)
    await page.getByRole('grid').press('End')
    await page.getByText('person-000001@example.com').waitFor()
  },
  'events-many': showManyEvents,
  'limits-many': showAnswer(
    '/limits',
    { call: '/api/limits/rules', change: toManyRules },
    'Show more',
  ),
  'mailbox-many': async (page, world) => {
    // Without messages, there would be none to repeat.
    await showMailbox(page, world)
    await showManyMessages(page, world)
    await waitForMessageFrame(page)
  },
  'users-empty': showAnswer(
    '/users',
    { call: '/api/users', change: (answer: object) => ({ ...answer, users: [], total: 0 }) },
    'No users yet',
  ),
  'users-failures-empty': showAnswer(
    '/users?view=failures',
    { call: '/api/users/sign-in-failures', change: () => [] },
    'No failed sign-ins',
  ),
  'events-empty': showAnswer(
    '/events',
    { call: '/api/events', change: (answer: object) => ({ ...answer, events: [], next: null }) },
    'No events yet',
  ),
  'mailbox-empty': showAnswer(
    '/mailbox',
    {
      call: '/api/mailbox/messages',
      change: (answer: object) => ({ ...answer, messages: [], total: 0 }),
    },
    'No messages yet',
  ),
  'limits-empty': showAnswer(
    '/limits',
    { call: '/api/limits/rules', change: (answer: object) => ({ ...answer, domains: [] }) },
    'No rules',
  ),
  'limits-keys-empty': showNoKeys,
  'limits-files-empty': showAnswer(
    '/limits?view=files',
    { call: '/api/limits/files', change: () => [] },
    'No rule files yet',
  ),
  'graphql-empty': showAnswer(
    '/graphql-audits',
    { call: '/api/audits', change: () => ({ runs: [] }) },
    'No audits yet',
  ),
  ...eachPage('loading', showLoading),
  ...eachPage('unreachable', showUnreachable),
}
