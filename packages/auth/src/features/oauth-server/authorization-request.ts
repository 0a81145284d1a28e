import { randomBytes } from 'node:crypto'
import { toIssuer } from '../../config/oauth-server.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { isStorableText } from '../../stored-json.ts'
import type { OAuthClientRow } from '../oauth-clients/statements.ts'
import { withQuery } from '../redirects/redirect-location.ts'
import { findClient } from './clients.ts'
import { oauthError } from './oauth-error.ts'
import { parseResources, parseScope, toScopes } from './requested-access.ts'
import {
  addAuthorization,
  type NewAuthorization,
  startPushedAuthorization,
} from './statements/authorizations.ts'

export type RequestParameters = Readonly<Record<string, string | undefined>>

/** Where responses to the client go. */
interface ResponseTarget {
  readonly redirect_uri: string
  readonly state: string
}

/** A request that cannot be processed, which the client learns by a redirect. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly location: string
  readonly isTrusted: boolean
  constructor(client: OAuthClientRow, location: string) {
    super('The authorization request was refused')
    this.location = location
    this.isTrusted = isTrusted(client)
  }
}

/**
 * Whether the browser can be redirected to the client before the user has seen a page. Anyone can register a client
 * and send users to its site with a link to this server (RFC 9700, section 4.11.2).
 */
export function isTrusted({ registration_type: type }: Pick<OAuthClientRow, 'registration_type'>) {
  return type === 'manual'
}

/**
 * Checks and stores the request of a client. @throws {RefusedRequest} @throws {ApiError} if the
 * browser must not be redirected, because the client or its redirect URI is unknown.
 */
export async function requestAuthorization(
  services: Services,
  parameters: RequestParameters,
): Promise<StartedAuthorization> {
  const { client_id: clientId = '', request_uri: requestUri = '' } = parameters
  if (clientId === '') throw invalid('client_id is required')
  const client = await findClient(services, clientId)
  if (requestUri.startsWith(requestUriPrefix)) {
    return await startPushed(services, client, requestUri.slice(requestUriPrefix.length))
  }
  const target = readTarget(client, parameters)
  try {
    const lifetimeMs = services.config.oauthServer.authorizationTtlMs
    return await store(services, client, parameters, { status: 'pending', lifetimeMs })
  } catch (error) {
    if (!(error instanceof ApiError) || error.oauthError === undefined) throw error
    const location = toErrorLocation(services, target, error.oauthError, error.message)
    throw new RefusedRequest(client, location)
  }
}

/** What the browser starts with. */
interface StartedAuthorization {
  readonly id: string
  readonly prompt: string
}

/** The prefix of RFC 9126, section 2.2; the ID of the request follows. */
const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'
/** How long a browser has to start a pushed request. */
const pushedLifetimeMs = 60_000

/**
 * Checks and stores the request of a client that has authenticated, before the browser starts it
 * (RFC 9126). @throws {ApiError}
 */
export async function pushAuthorization(
  services: Services,
  client: OAuthClientRow,
  parameters: RequestParameters,
) {
  const { request_uri: requestUri = '' } = parameters
  if (requestUri !== '') throw oauthError('invalid_request', 'request_uri cannot be pushed')
  const { id } = await store(services, client, parameters, {
    status: 'pushed',
    lifetimeMs: pushedLifetimeMs,
  })
  return { request_uri: `${requestUriPrefix}${id}`, expires_in: pushedLifetimeMs / 1_000 }
}

/**
 * Binds the code to the key whose proof came with a pushed request (RFC 9449, section 10.1).
 * @throws {ApiError} if the request names another key.
 */
export function withProofKey(
  parameters: RequestParameters,
  proofKey: string | undefined,
): RequestParameters {
  const { dpop_jkt: named = proofKey } = parameters
  if (proofKey === undefined || named === undefined) return parameters
  if (named === proofKey) return { ...parameters, dpop_jkt: proofKey }
  throw oauthError('invalid_dpop_proof', 'dpop_jkt is not the thumbprint of the key of the proof')
}

/** @throws {ApiError} if it is unknown, was started before, or belongs to another client. */
async function startPushed(
  services: Services,
  client: OAuthClientRow,
  id: string,
): Promise<StartedAuthorization> {
  const now = services.now()
  const [started] = await services.db.run(startPushedAuthorization, {
    id,
    clientId: client.id,
    now: new Date(now),
    expiresAt: new Date(now + services.config.oauthServer.authorizationTtlMs),
  })
  if (started === undefined) throw invalid('request_uri is unknown or has expired')
  return started
}

/** @throws {ApiError} */
function readTarget(client: OAuthClientRow, parameters: RequestParameters): ResponseTarget {
  const { redirect_uri: redirectUri = '', state = '' } = parameters
  if (redirectUri === '') throw invalid('redirect_uri is required')
  if (!isRegistered(client.redirect_uris, redirectUri)) throw invalid('invalid redirect_uri')
  return { redirect_uri: redirectUri, state }
}

/** An http URL of a loopback address, with any port. */
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?=[/?]|$)/

/**
 * Whether a client may use this redirect URI: only the exact text that it has registered. Apps on a
 * computer listen on a port that they find free, so the port of a loopback address may differ
 * (RFC 8252, section 7.3).
 */
function isRegistered(registered: readonly string[], requested: string): boolean {
  return registered.some((uri) => uri === requested || isSameLoopback(uri, requested))
}

function isSameLoopback(registered: string, requested: string): boolean {
  return loopback.test(registered) && withoutPort(registered) === withoutPort(requested)
}

function withoutPort(uri: string): string {
  return uri.replace(loopback, 'http://$1')
}

/** @throws {ApiError} */
async function store(
  services: Services,
  client: OAuthClientRow,
  parameters: RequestParameters,
  {
    status,
    lifetimeMs,
  }: { readonly status: NewAuthorization['status']; readonly lifetimeMs: number },
): Promise<StartedAuthorization> {
  const now = services.now()
  const authorization: NewAuthorization = {
    id: randomBytes(24).toString('base64url'),
    client_id: client.id,
    status,
    ...readTarget(client, parameters),
    ...readParameters(services, client, parameters),
    created_at: new Date(now),
    expires_at: new Date(now + lifetimeMs),
  }
  await services.db.run(addAuthorization, authorization)
  return authorization
}

const prompts = ['none', 'login', 'consent', 'select_account']
/** Limits of texts that are stored and returned. */
const longestText = 2_048

/** @throws {ApiError} */
function readParameters(services: Services, client: OAuthClientRow, given: RequestParameters) {
  for (const [name, text = ''] of Object.entries(given)) {
    if (text.length <= longestText && isStorableText(text)) continue
    throw oauthError('invalid_request', `${name} is too long or has an invalid character`)
  }
  const { response_type: type = 'code', response_mode: mode = 'query', nonce = '' } = given
  if (given['request']) throw oauthError('request_not_supported', 'request is not supported')
  if (given['request_uri']) {
    throw oauthError('request_uri_not_supported', 'request_uri is not supported')
  }
  if (type !== 'code') {
    throw oauthError('unsupported_response_type', 'only response_type=code is supported')
  }
  if (mode !== 'query') throw oauthError('invalid_request', 'only response_mode=query is supported')
  if (!client.grant_types.includes('authorization_code')) {
    throw oauthError('unauthorized_client', 'The client may not use the authorization code grant')
  }
  const scope = parseScope(services, client, given['scope'] ?? '')
  return {
    scope,
    resource: parseResources(services.config.oauthServer, given['resource']),
    nonce,
    code_challenge: parseCodeChallenge(given),
    dpop_jkt: parseThumbprint(given['dpop_jkt']),
    prompt: parsePrompt(given['prompt']),
    max_age: parseMaxAge(given['max_age']),
  }
}

/** With `plain`, the challenge in the browser would be enough to use a stolen code. @throws {ApiError} */
function parseCodeChallenge({
  code_challenge: challenge = '',
  code_challenge_method: method = '',
}: RequestParameters): string {
  if (challenge === '' || method === '') {
    const message = 'PKCE flow requires both code_challenge and code_challenge_method'
    throw oauthError('invalid_request', message)
  }
  if (method.toUpperCase() !== 'S256') {
    throw oauthError('invalid_request', "code_challenge_method must be 'S256'")
  }
  if (/^[\w-]{43}$/.test(challenge)) return challenge
  throw oauthError('invalid_request', 'code_challenge must be 43 characters of base64url')
}

/** @throws {ApiError} */
function parseThumbprint(text = ''): string | null {
  if (text === '') return null
  if (/^[\w-]{43}$/.test(text)) return text
  throw oauthError('invalid_request', 'dpop_jkt must be 43 characters of base64url')
}

/** @throws {ApiError} */
function parsePrompt(text = ''): string {
  const values = toScopes(text)
  const unknown = values.find((value) => !prompts.includes(value))
  if (unknown !== undefined) throw oauthError('invalid_request', `unsupported prompt: ${unknown}`)
  if (values.includes('none') && values.length > 1) {
    throw oauthError('invalid_request', 'prompt=none cannot be combined with other values')
  }
  return values.join(' ')
}

/** @throws {ApiError} */
function parseMaxAge(text = ''): number | null {
  if (text === '') return null
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw oauthError('invalid_request', 'max_age must be a number of seconds')
}

/** Names this server in each response, so that a client notices a response of another one (RFC 9207). */
export function toCodeLocation(services: Services, target: ResponseTarget, code: string): string {
  return toLocation(services, target, { code })
}

export function toErrorLocation(
  services: Services,
  target: ResponseTarget,
  error: string,
  description: string,
): string {
  return toLocation(services, target, { error, error_description: description })
}

function toLocation(
  { config }: Services,
  { redirect_uri: uri, state }: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
): string {
  return withQuery(uri, { ...parameters, ...(state !== '' && { state }), iss: toIssuer(config) })
}
