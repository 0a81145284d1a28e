import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  list,
  path,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkDuration, oneDay } from './checks.ts'
import { withOldNames } from './variables.ts'

export const apiKeys = {
  title: 'API keys',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_API_KEYS_ENABLED',
      false,
      'Whether users can create API keys for themselves (/user/api-keys). Administrators can always create keys',
    ),
    scopes: list(
      'AUTH_API_KEYS_SCOPES',
      [],
      'Scopes that users can give to their own keys, such as reports:read',
      { defaultText: 'none' },
    ),
    mostPerOwner: integer(
      'AUTH_API_KEYS_MAX_PER_OWNER',
      20,
      'Maximum number of keys of a user or service account',
      { min: 1 },
    ),
    answersExtAuthz: boolean(
      'AUTH_EXT_AUTHZ_ENABLED',
      false,
      'Whether /ext-authz tells Envoy if a request has a valid access token or API key. Do not expose it to the public',
    ),
    acceptedAudiences: list(
      'AUTH_EXT_AUTHZ_AUDIENCES',
      [],
      'Audiences (aud) of the access tokens and API keys that Envoy may accept',
      { defaultText: 'AUTH_JWT_AUD' },
    ),
    checksAddress: string(
      'AUTH_EXT_AUTHZ_GRPC_ADDRESS',
      '',
      'Address on which Envoy asks over gRPC whether a request has a valid access token or API key, such as ' +
        '127.0.0.1:9002 or unix:/run/auth.sock. Do not expose it to the public',
      { defaultText: 'off' },
    ),
    checksCert: path(
      'AUTH_EXT_AUTHZ_TLS_CERT',
      '',
      'PEM file with the certificate of that address; changes are noticed within 10 seconds',
      { defaultText: 'no TLS' },
    ),
    checksKey: path('AUTH_EXT_AUTHZ_TLS_KEY', '', 'PEM file with its private key'),
    checksClientCa: path(
      'AUTH_EXT_AUTHZ_TLS_CLIENT_CA',
      '',
      'PEM file with the certificate authorities from which clients must have a certificate',
      { defaultText: 'clients need none' },
    ),
    tokenMs: duration(
      'AUTH_API_KEYS_JWT_EXP',
      '5m',
      'Lifetime of the access tokens that keys are exchanged for; at most AUTH_JWT_EXP',
      { bareSeconds: true },
    ),
  }),
} satisfies Chapter

export interface ApiKeysConfig {
  /** Whether users can create keys. */
  readonly enabled: boolean
  readonly scopes: readonly string[]
  readonly mostPerOwner: number
  readonly answersExtAuthz: boolean
  /** Not empty. */
  readonly acceptedAudiences: readonly string[]
  readonly tokenSeconds: number
  /** The gRPC listener for ext_authz. Undefined: there is none. */
  readonly checks: ExtAuthzConfig | undefined
}

export interface ExtAuthzConfig {
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string }
  /** Undefined: no TLS. */
  readonly tls: ChecksTlsConfig | undefined
}

export interface ChecksTlsConfig {
  readonly certPath: string
  readonly keyPath: string
  /** Undefined: clients need no certificate. */
  readonly clientCaPath: string | undefined
}

export function toApiKeys(
  settings: Settings<typeof apiKeys.variables>,
  defaultAudience: string,
  check: Check,
): ApiKeysConfig {
  const { variables } = apiKeys
  const { enabled, scopes, mostPerOwner, answersExtAuthz, acceptedAudiences, tokenMs } = settings
  checkDuration(variables.tokenMs, tokenMs, oneDay, check)
  if (tokenMs < 1_000) check.fault(variables.tokenMs, 'must be at least 1s')
  return {
    enabled,
    scopes,
    mostPerOwner,
    answersExtAuthz,
    acceptedAudiences: acceptedAudiences.length === 0 ? [defaultAudience] : acceptedAudiences,
    tokenSeconds: Math.floor(tokenMs / 1_000),
    checks: toChecks(settings, check),
  }
}

function toChecks(
  settings: Settings<typeof apiKeys.variables>,
  check: Check,
): ExtAuthzConfig | undefined {
  const { variables } = apiKeys
  const [certPath, keyPath] = [settings.checksCert.trim(), settings.checksKey.trim()]
  const clientCaPath = settings.checksClientCa.trim() || undefined
  if ((certPath === '') !== (keyPath === '')) {
    const missing = certPath === '' ? variables.checksCert : variables.checksKey
    check.fault(missing, 'is required, because a certificate and its key belong together')
  }
  if (clientCaPath !== undefined && certPath === '') {
    check.fault(variables.checksClientCa, 'needs a certificate of the server')
  }
  const text = settings.checksAddress.trim()
  if (text === '') return undefined
  const address = parseAddress(text)
  if (address === undefined) {
    check.fault(
      variables.checksAddress,
      'must be an address such as 127.0.0.1:9002 or unix:/run/auth.sock',
    )
    return undefined
  }
  return { address, tls: certPath === '' ? undefined : { certPath, keyPath, clientCaPath } }
}

function parseAddress(text: string): ExtAuthzConfig['address'] | undefined {
  const path = /^unix:(\/.+)$/.exec(text)?.[1]
  if (path !== undefined) return { path }
  const [, inBrackets, name, port] =
    /^(?:\[([\da-f:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = inBrackets ?? name
  if (host === undefined || Number(port) > 65_535) return undefined
  return { host, port: Number(port) }
}
