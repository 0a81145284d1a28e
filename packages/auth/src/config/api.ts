import type { Check } from '@portcullis/service-kit/config-check'
import {
  type Chapter,
  choice,
  duration,
  integer,
  list,
  port,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'
import { checkDuration, oneDay } from './durations.ts'
import { checkHeaderName, checkHost, checkPresent, checkWebUrl } from './required.ts'

const compatModes = ['auto', 'specification', 'upstream'] as const

export const api = {
  title: 'Listening and answering',
  variables: withOldNames({
    host: string('AUTH_API_HOST', '', 'Address to listen on', { defaultText: 'all addresses' }),
    port: port('AUTH_API_PORT', 8081, 'Port to listen on', {
      aliases: ['PORT', 'AUTH_PORT', 'GOTRUE_PORT'],
    }),
    externalUrl: string('AUTH_API_EXTERNAL_URL', '', 'The public URL of this server', {
      aliases: ['API_EXTERNAL_URL'],
    }),
    pathPrefix: string(
      'AUTH_API_PATH_PREFIX',
      '',
      'Path below which all endpoints are served too, such as /auth/v1',
    ),
    requestIdHeader: string(
      'AUTH_REQUEST_ID_HEADER',
      '',
      'Header of a request whose value becomes its id',
      { aliases: ['REQUEST_ID_HEADER'] },
    ),
    maxRequestDurationMs: duration(
      'AUTH_API_MAX_REQUEST_DURATION',
      '10s',
      'After this time a request is answered with 504; what it began may still be done',
    ),
    bodyLimitBytes: integer(
      'AUTH_API_BODY_LIMIT_BYTES',
      1_048_576,
      'The longest body of a request',
      { min: 1_024 },
    ),
    corsAllowedHeaders: list(
      'AUTH_CORS_ALLOWED_HEADERS',
      [],
      'More headers that scripts of other origins may send',
    ),
    compatMode: choice(
      'AUTH_COMPAT_MODE',
      compatModes,
      'auto',
      'Where the specification and Supabase Auth differ: decide by the version header of the ' +
        'request, or always the one or the other',
    ),
    drainTimeoutMs: duration(
      'AUTH_DRAIN_TIMEOUT',
      '60s',
      'After a signal, how long requests in progress may take to end',
    ),
  }),
} satisfies Chapter

export interface ApiConfig {
  /** Undefined: all addresses. */
  readonly host: string | undefined
  readonly port: number
  /** Without a slash at the end. */
  readonly externalUrl: string
  /** Begins with a slash, or is empty. */
  readonly pathPrefix: string
  readonly requestIdHeader: string | undefined
  readonly maxRequestDurationMs: number
  readonly bodyLimitBytes: number
  readonly corsAllowedHeaders: readonly string[]
  readonly compatMode: (typeof compatModes)[number]
  readonly drainTimeoutMs: number
}

const longestRequestMs = 3_600_000

export function toApi(settings: Settings<typeof api.variables>, check: Check): ApiConfig {
  const { variables } = api
  checkPresent(variables.externalUrl, settings.externalUrl, check)
  const externalUrl = settings.externalUrl.trim()
  checkWebUrl(variables.externalUrl, externalUrl, check)
  const requestIdHeader = settings.requestIdHeader.trim()
  checkHeaderName(variables.requestIdHeader, requestIdHeader, check)
  for (const name of settings.corsAllowedHeaders) {
    checkHeaderName(variables.corsAllowedHeaders, name, check)
  }
  checkHost(variables.host, settings.host.trim(), check)
  checkDuration(variables.drainTimeoutMs, settings.drainTimeoutMs, oneDay, check)
  const pathPrefix = settings.pathPrefix.replace(/\/+$/, '')
  if (pathPrefix !== '' && !/^(?:\/[\w.~-]+)+$/.test(pathPrefix)) {
    check.fault(variables.pathPrefix, 'must be a path such as /auth/v1')
  }
  if (settings.maxRequestDurationMs < 1 || settings.maxRequestDurationMs > longestRequestMs) {
    check.fault(variables.maxRequestDurationMs, 'must be between 1ms and 1h')
  }
  return {
    ...settings,
    host: settings.host.trim() || undefined,
    externalUrl: externalUrl.replace(/\/+$/, ''),
    pathPrefix,
    requestIdHeader: requestIdHeader.toLowerCase() || undefined,
  }
}
