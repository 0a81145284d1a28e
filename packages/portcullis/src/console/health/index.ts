import type { ConsoleSettings } from '../settings.ts'
import { createAuthCheck } from './check-auth.ts'
import { createGraphqlCheck } from './check-graphql.ts'
import { createRatelimitCheck } from './check-ratelimit.ts'
import type { CheckPart, PartName } from './part-health.ts'

export type Checks = Partial<Readonly<Record<PartName, CheckPart>>>

/** The console and the mailbox run in this process. */
export const processStartedAt = Math.round(Date.now() - process.uptime() * 1000)

/** How to ask each part that the console was given. */
export function createChecks(settings: Omit<ConsoleSettings, 'host' | 'port' | 'token'>): Checks {
  const { auth, ratelimit, graphql, mailbox, version } = settings
  return {
    ...(auth && { auth: createAuthCheck(auth) }),
    ...(ratelimit && { ratelimit: createRatelimitCheck(ratelimit) }),
    ...(graphql && { graphql: createGraphqlCheck(graphql) }),
    ...(mailbox && {
      mailbox: async () => ({
        state: 'up' as const,
        startedAt: processStartedAt,
        address: `SMTP ${mailbox.smtpAddress}`,
        detail: toCaught(mailbox.list().length),
      }),
    }),
    console: async () => ({ state: 'up', version, startedAt: processStartedAt }),
  }
}

function toCaught(count: number): string {
  return count === 1 ? '1 message caught' : `${count} messages caught`
}
