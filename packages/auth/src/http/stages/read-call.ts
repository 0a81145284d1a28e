import type { FastifyRequest } from 'fastify'
import type { ApiConfig } from '../../config/api.ts'
import { toExternalUrl } from '../../features/redirects/confirmation-link.ts'
import type { Services } from '../../services.ts'
import { type Call, readHeader } from '../call.ts'
import type { Identified } from './caller.ts'
import type { ClientAddress } from './client-address.ts'
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

/**
 * Whether to behave like current Supabase Auth. This selects messages, shapes and defaults, but
 * never which checks are made.
 */
function isSdkDialect(mode: ApiConfig['compatMode'], version: string | undefined): boolean {
  return mode === 'auto' ? isVersion(version) : mode === 'upstream'
}

/**
 * Whether errors have the versioned form, which clients request by the header, as with Supabase
 * Auth.
 */
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
