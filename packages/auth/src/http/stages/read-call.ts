import type { FastifyRequest } from 'fastify'
import type { ApiConfig } from '../../config/api.ts'
import { toExternalUrl } from '../../features/redirects/confirmation-link.ts'
import type { Services } from '../../services.ts'
import { type Call, readHeader } from '../call.ts'
import type { Identified } from './caller.ts'
import type { ClientAddress } from './client-address.ts'
import { versionHeader } from './error-answer.ts'

/** How somebody who signs in names one of AUTH_SESSIONS_TAGS. */
export const tagHeader = 'x-session-tag'

/** The request as endpoints see it. Its body has been compared with the schema of the endpoint. */
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

/** Of a parameter that is given twice the first value counts. */
function toFirstValues(query: unknown): Call['query'] {
  const entries = Object.entries(query as Readonly<Record<string, string | string[]>>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}

/**
 * Whether a request speaks the dialect of today's client (reference 1.2). It chooses words, shapes and
 * defaults, never whether something is checked.
 */
function isSdkDialect(mode: ApiConfig['compatMode'], version: string | undefined): boolean {
  return mode === 'auto' ? isVersion(version) : mode === 'upstream'
}

/** Whether errors have the form that callers ask for by the header; today's server too waits to be asked. */
export function wantsVersionedErrors(
  mode: ApiConfig['compatMode'],
  version: string | undefined,
): boolean {
  return mode !== 'specification' && isVersion(version)
}

function isVersion(version: string | undefined): boolean {
  if (version === undefined || !/^\d{4}-\d\d-\d\d$/.test(version)) return false
  return version >= '2024-01-01' && !Number.isNaN(Date.parse(version))
}
