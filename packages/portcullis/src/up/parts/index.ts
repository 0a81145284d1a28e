import type { StartPart } from '../part.ts'
import type { PartName } from '../ports.ts'

interface Part {
  /** The name shown in the terminal. */
  readonly title: string
  readonly start: StartPart
  /** The part that has to start first. */
  readonly after?: PartName
}

/** Each part is loaded on demand, so that the services start while the other parts are still loading. */
export const parts: Readonly<Record<PartName, Part>> = {
  auth: {
    title: 'Auth',
    start: async (context) => (await import('./auth.ts')).startAuth(context),
  },
  ratelimit: {
    title: 'Rate limits',
    start: async (context) => (await import('./ratelimit.ts')).startRatelimit(context),
  },
  mailbox: {
    title: 'Mailbox',
    start: async (context) => (await import('./mailbox.ts')).startMailbox(context),
  },
  graphql: {
    title: 'GraphQL API',
    start: async (context) => (await import('./graphql.ts')).startGraphql(context),
  },
  console: {
    title: 'Console',
    start: async (context) => (await import('./console.ts')).startConsole(context),
    after: 'mailbox',
  },
}
