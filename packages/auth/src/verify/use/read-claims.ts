import { AuthUnavailableError, type Refusal, TokenError, toRefusal } from '../errors.ts'
import type { ReceivedRequest } from '../proofs/options.ts'
import type { ResourceMetadata } from '../resource-metadata.ts'
import type { AccessTokenClaims, Verifier } from '../verifier.ts'
import { checkNames } from '../verifier-options.ts'

/** Options of `requireToken` in every adapter. */
export interface RequireTokenOptions<Claims extends AccessTokenClaims = AccessTokenClaims> {
  /** Created by `createVerifier`. One verifier can serve several adapters. */
  readonly verifier: Verifier<Claims>
  /**
   * Whether requests without a token are allowed, without claims. An invalid token is always
   * rejected.
   */
  readonly isOptional?: boolean
  /** The metadata of the API, by which clients find the auth server. Default: they are not told. */
  readonly metadata?: Pick<ResourceMetadata, 'url'>
  /** Creates a custom response body. Default: the JSON body of `toRefusal`. */
  readonly toBody?: (refusal: Refusal, error: Error) => string
  /**
   * Called with the reason if the keys of the auth server cannot be fetched, at most once a minute,
   * because clients do not see it. Default: `console.warn`; `false` turns it off.
   */
  readonly warn?: ((message: string) => void) | false
}

export type Outcome<Claims> =
  | { readonly claims: Claims | undefined; readonly refusal?: undefined }
  | { readonly refusal: Refusal }

const optionNames: readonly (keyof RequireTokenOptions)[] = [
  'verifier',
  'isOptional',
  'metadata',
  'toBody',
  'warn',
]

/** The minimum interval between two warnings. */
const warningPauseMs = 60_000

/**
 * Shared by all adapters: converts the headers of a request to claims or a refusal. The returned
 * function throws any error that does not concern the token.
 */
export function createReadClaims<Claims extends AccessTokenClaims>(
  options: RequireTokenOptions<Claims>,
): (request: ReceivedRequest) => Promise<Outcome<Claims>> {
  if (typeof options?.verifier?.verifyRequest !== 'function')
    throw new TypeError(
      'requireToken: option "verifier" must be created by createVerifier: requireToken({ verifier })',
    )
  checkNames('requireToken', options, optionNames)
  const { verifier, isOptional = false, metadata, toBody, warn = console.warn } = options
  if (typeof isOptional !== 'boolean')
    throw new TypeError('requireToken: option "isOptional" must be true or false')
  let warnedMs = Number.NEGATIVE_INFINITY

  return async (request) => {
    try {
      return { claims: await verifier.verifyRequest(request) }
    } catch (error) {
      if (isOptional && error instanceof TokenError && error.code === 'missing_token')
        return { claims: undefined }
      const refusal = toRefusal(error, metadata)
      if (!refusal) throw error
      if (warn && error instanceof AuthUnavailableError) {
        const nowMs = performance.now()
        if (nowMs - warnedMs >= warningPauseMs) {
          warnedMs = nowMs
          warn(error.message)
        }
      }
      return {
        refusal: toBody ? { ...refusal, body: toBody(refusal, error as Error) } : refusal,
      }
    }
  }
}
