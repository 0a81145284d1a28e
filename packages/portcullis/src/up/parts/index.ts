import type { StartPart } from '../part.ts'
import type { PartName } from '../ports.ts'

interface Part {
  /** What people read. */
  readonly title: string
  readonly start: StartPart
  /** What has to run first. */
  readonly after?: PartName
}

/** Each loaded when it is wanted: processes of others start while ours still loads. */
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
