import type { AddRoutes } from '../settings.ts'

/** The data that the page needs before it renders. */
export interface ConsoleSession {
  readonly version: string
  /** Parts that the console is not configured with are undefined. */
  readonly parts: {
    readonly auth?: { readonly url: string }
    readonly ratelimit?: {
      readonly debugUrl: string
      readonly url?: string
      readonly canEdit: boolean
    }
    readonly graphql?: { readonly url: string }
    readonly mailbox?: Readonly<Record<string, never>>
  }
}

export const addRoutes: AddRoutes = (server, { version, auth, ratelimit, graphql, mailbox }) => {
  const session: ConsoleSession = {
    version,
    parts: {
      ...(auth && { auth: { url: auth.url } }),
      ...(ratelimit && {
        ratelimit: {
          debugUrl: ratelimit.debugUrl,
          ...(ratelimit.url !== undefined && { url: ratelimit.url }),
          canEdit: ratelimit.rulesDirectory !== undefined,
        },
      }),
      ...(graphql && { graphql: { url: graphql.url } }),
      ...(mailbox && { mailbox: {} }),
    },
  }
  server.get('/api/session', async () => session)
}
