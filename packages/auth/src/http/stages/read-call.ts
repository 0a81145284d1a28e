import type { FastifyRequest } from 'fastify'
import { toExternalUrl } from '../../features/redirects/confirmation-link.ts'
import type { Services } from '../../services.ts'
import { type Call, readHeader } from '../call.ts'
import type { Identified } from './caller.ts'
import type { ClientAddress } from './client-address.ts'
import { isSdkDialect } from './dialect.ts'
import { versionHeader } from './error-answer.ts'
import { repeatable } from './parse.ts'

/** Names one of AUTH_SESSIONS_TAGS at sign-in. */
export const tagHeader = 'x-session-tag'

/** How the client sees the URL of the request. */
export function readOrigin(
  { headers, method, url }: FastifyRequest,
  { config: { api, mail } }: Pick<Services, 'config'>,
): Pick<Call, 'externalUrl' | 'proven'> {
  const externalUrl = toExternalUrl({
    externalUrl: api.externalUrl,
    externalHosts: mail.externalHosts,
    host: readHeader(headers, 'x-forwarded-host'),
    proto: readHeader(headers, 'x-forwarded-proto'),
  })
  // The external URL has the prefix already, if there is one.
  const path = url.startsWith(`${api.pathPrefix}/`) ? url.slice(api.pathPrefix.length) : url
  const proof = readHeader(headers, 'dpop')
  return { externalUrl, proven: { method, url: `${externalUrl}${path}`, proof } }
}

/** Builds the request for endpoints. Its body has already been validated. */
export function readCall(
  request: FastifyRequest,
  address: ClientAddress,
  identified: Identified & ReturnType<typeof readOrigin>,
  { config: { api, tokens } }: Pick<Services, 'config'>,
): Call<never> {
  const { headers } = request
  const header = (name: string) => readHeader(headers, name)
  return {
    body: request.body as never,
    query: toSingleValues(request.query),
    params: request.params as Call['params'],
    header,
    isSdk: isSdkDialect(api.compatMode, header(versionHeader)),
    client: {
      ...address,
      userAgent: (headers['user-agent'] ?? '').slice(0, 512),
      tag: tokens.sessions.tags.find((tag) => tag === header(tagHeader)),
    },
    requestId: request.id,
    ...identified,
  }
}

/** Keeps the first value if a parameter occurs several times, except that of OAuth that can. */
function toSingleValues(query: unknown): Call['query'] {
  const entries = Object.entries(query as Readonly<Record<string, string | string[]>>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? toSingle(name, value) : value]),
  )
}

function toSingle(name: string, values: readonly string[]): string | undefined {
  return name === repeatable ? values.join(' ') : values[0]
}
