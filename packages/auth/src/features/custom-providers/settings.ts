import { invalid } from '../../errors.ts'
import type {
  CustomProvider,
  CustomProviders,
} from '../../plugins/providers/custom/custom-provider.ts'
import { toDiscoveryUrl } from '../../plugins/providers/custom/discovery.ts'
import type { Metadata } from '../../stored-json.ts'

/** The fields of a provider that administrators set and read. */
export interface CustomProviderSettings extends CustomProvider {
  readonly provider_type: 'oauth2' | 'oidc'
  readonly name: string
  readonly enabled: boolean
  /** Null for a provider of plain OAuth 2.0. */
  readonly issuer: string | null
  /** Null if it follows from the issuer. */
  readonly discovery_url: string | null
  readonly jwks_uri: string | null
}

/** The fields of a request; absent ones stay as they are or get their default. */
export type GivenFields = Readonly<{
  [Name in keyof CustomProviderSettings]?: unknown
}>

const defaults = {
  acceptable_client_ids: [],
  scopes: [],
  pkce_enabled: true,
  attribute_mapping: {},
  custom_claims_allowlist: [],
  authorization_params: {},
  enabled: true,
  email_optional: false,
  skip_nonce_check: false,
  issuer: null,
  discovery_url: null,
  authorization_url: null,
  token_url: null,
  userinfo_url: null,
  jwks_uri: null,
} as const satisfies Partial<CustomProviderSettings>

const identifierPattern = /^custom:[a-z0-9](?:[a-z0-9:-]{0,41}[a-z0-9])?$/

/** @throws {ApiError} */
export function parseIdentifier(text: string): string {
  if (identifierPattern.test(text)) return text
  throw invalid(
    "identifier must start with 'custom:' followed by lower-case letters, digits, hyphens and colons, at most 50 characters in total",
  )
}

/**
 * Applies the fields of a request to the settings, and checks the result.
 * @param before undefined for a new provider.
 * @throws {ApiError}
 */
export function mergeSettings(
  before: CustomProviderSettings | undefined,
  given: GivenFields,
  { findUrlFault }: Pick<CustomProviders, 'findUrlFault'>,
): CustomProviderSettings {
  const there = Object.entries(given).filter(([, value]) => value !== undefined && value !== '')
  const merged = { ...(before ?? defaults), ...Object.fromEntries(there) } as CustomProviderSettings
  const { provider_type: type, name, client_id } = merged
  if (type !== 'oauth2' && type !== 'oidc') {
    throw invalid("provider_type must be either 'oauth2' or 'oidc'")
  }
  checkLength('name', name, 100)
  checkLength('client_id', client_id, 512)
  checkParameters(merged.authorization_params)
  checkMapping(merged.attribute_mapping)
  if (merged.custom_claims_allowlist.some((key) => key.trim() === '')) {
    throw invalid('custom_claims_allowlist entries must be non-empty strings')
  }
  const settings = type === 'oidc' ? toOidc(merged) : toPlain(merged)
  for (const field of urlFields) {
    const url = settings[field]
    const fault = url === null ? undefined : findUrlFault(url)
    if (fault !== undefined) throw invalid(`${field} ${fault}`)
  }
  return settings
}

const urlFields = [
  'issuer',
  'discovery_url',
  'authorization_url',
  'token_url',
  'userinfo_url',
  'jwks_uri',
] as const

/** Drops the fields that only a provider of plain OAuth 2.0 has. */
function toOidc(merged: CustomProviderSettings): CustomProviderSettings {
  const { authorization_url, token_url, userinfo_url, jwks_uri } = defaults
  if (merged.issuer === null) throw invalid('issuer is required for OIDC providers')
  const scopes = [...new Set(['openid', ...merged.scopes])]
  return { ...merged, scopes, authorization_url, token_url, userinfo_url, jwks_uri }
}

/** Drops the fields that only a provider of OpenID Connect has. */
function toPlain(merged: CustomProviderSettings): CustomProviderSettings {
  const { issuer, discovery_url, skip_nonce_check } = defaults
  for (const field of ['authorization_url', 'token_url', 'userinfo_url'] as const) {
    if (merged[field] === null) throw invalid(`${field} is required for OAuth2 providers`)
  }
  return { ...merged, issuer, discovery_url, skip_nonce_check }
}

/** Undefined for a provider of plain OAuth 2.0. */
export function toDiscoveryPlace({ issuer, discovery_url: url }: CustomProviderSettings) {
  return issuer === null ? undefined : { issuer, url: url ?? toDiscoveryUrl(issuer) }
}

function checkLength(field: string, value: unknown, most: number): void {
  if (typeof value !== 'string' || value === '') throw invalid(`${field} is required`)
  if (value.length > most) throw invalid(`${field} must have at most ${most} characters`)
}

/** Parameters that decide where the provider redirects and what it returns. */
const reservedParameters: ReadonlySet<string> = new Set([
  ...['client_id', 'client_secret', 'redirect_uri', 'response_type', 'response_mode', 'scope'],
  ...['state', 'nonce', 'code_challenge', 'code_challenge_method', 'code_verifier'],
  ...['request', 'request_uri'],
])

function checkParameters(parameters: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(parameters)) {
    if (reservedParameters.has(key.toLowerCase())) {
      throw invalid(`Cannot override reserved OAuth parameter: ${key}`)
    }
    if (typeof value !== 'string')
      throw invalid(`Authorization parameter "${key}" must be a string`)
  }
}

/** Fields that only this server sets. */
const protectedFields: ReadonlySet<string> = new Set([
  ...['id', 'aud', 'role', 'app_metadata', 'created_at', 'updated_at', 'confirmed_at'],
  ...['email_confirmed_at', 'phone_confirmed_at', 'email_verified', 'phone_verified'],
  ...['banned_until', 'is_super_admin'],
])

function checkMapping(mapping: Metadata): void {
  for (const [target, source] of Object.entries(mapping)) {
    if (protectedFields.has(target))
      throw invalid(`Cannot map to protected system field: ${target}`)
    // A fixed value would sign all users of the provider in to the same account.
    if ((target === 'sub' || target === 'email') && typeof source !== 'string') {
      throw invalid(`attribute_mapping.${target} must be the name of a claim`)
    }
  }
}
