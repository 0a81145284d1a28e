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
    start: async (world) => (await import('./auth.ts')).startAuth(world),
  },
  ratelimit: {
    title: 'Rate limits',
    start: async (world) => (await import('./ratelimit.ts')).startRatelimit(world),
  },
  mailbox: {
    title: 'Mailbox',
    start: async (world) => (await import('./mailbox.ts')).startMailbox(world),
  },
  graphql: {
    title: 'GraphQL API',
    start: async (world) => (await import('./graphql.ts')).startGraphql(world),
  },
  console: {
    title: 'Console',
    start: async (world) => (await import('./console.ts')).startConsole(world),
    after: 'mailbox',
  },
}
