import type { FastifyRequest } from 'fastify'
import { toExternalUrl } from '../../features/redirects/confirmation-link.ts'
import type { Services } from '../../services.ts'
import { type Call, readHeader } from '../call.ts'
import type { Identified } from './caller.ts'
import type { ClientAddress } from './client-address.ts'
import { isSdkDialect } from './dialect.ts'
import { versionHeader } from './error-answer.ts'

/** Names one of AUTH_SESSIONS_TAGS at sign-in. */
export const tagHeader = 'x-session-tag'

/** Builds the request for endpoints. Its body has already been validated. */
export function readCall(
  request: FastifyRequest,
  address: ClientAddress,
  identified: Identified,
  { config: { api, mail, tokens } }: Pick<Services, 'config'>,
): Call<never> {
  const { headers } = request
  const header = (name: string) => readHeader(headers, name)
  return {
    body: request.body as never,
    query: toFirstValues(request.query),
    params: request.params as Call['params'],
    header,
    isSdk: isSdkDialect(api.compatMode, header(versionHeader)),
    client: {
      ...address,
      userAgent: (headers['user-agent'] ?? '').slice(0, 512),
      tag: tokens.sessions.tags.find((tag) => tag === header(tagHeader)),
    },
    requestId: request.id,
    externalUrl: toExternalUrl({
      externalUrl: api.externalUrl,
      externalHosts: mail.externalHosts,
      host: header('x-forwarded-host'),
      proto: header('x-forwarded-proto'),
    }),
    ...identified,
  }
}

/** Keeps the first value if a parameter occurs several times. */
function toFirstValues(query: unknown): Call['query'] {
  const entries = Object.entries(query as Readonly<Record<string, string | string[]>>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}
