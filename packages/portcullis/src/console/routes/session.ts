import type { AddRoutes } from '../settings.ts'

/** What the page has to know before it shows anything. */
export interface ConsoleSession {
  readonly version: string
  /** Undefined: this console was not given one. */
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
