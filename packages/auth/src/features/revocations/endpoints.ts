import { defineEndpoint } from '../../http/endpoint.ts'
import { toEventStream } from './event-stream.ts'

/** A role that may do nothing else, for servers that verify tokens. */
export const verifierRole = 'token_verifier'

export const revocations = defineEndpoint({
  method: 'GET',
  path: '/revocations',
  summary:
    'Streams the sessions and users whose access tokens must no longer be accepted, as server-sent events. Continues after the Last-Event-ID',
  allowed: 'admin',
  moreRoles: [verifierRole],
  success: {
    status: 200,
    description:
      'Events of the type text/event-stream: settings, revocations, and every second current',
  },
  async handle({ header }, { revocationFeed: feed, config, now }) {
    const stream = (signal: AbortSignal) =>
      toEventStream({
        feed,
        lastEventId: header('last-event-id'),
        keptMs: config.tokens.revocationsKeptMs,
        now,
        signal,
      })
    return { status: 200, stream }
  },
})
