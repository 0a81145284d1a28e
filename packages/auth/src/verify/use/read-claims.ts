import { type Refusal, TokenError, toRefusal } from '../errors.ts'
import type { AccessTokenClaims, Verifier } from '../verifier.ts'

/** Options of `requireToken` in every adapter. */
export interface RequireTokenOptions<Claims extends AccessTokenClaims = AccessTokenClaims> {
  /** Made by `createVerifier`. One verifier can serve several adapters. */
  readonly verifier: Verifier<Claims>
  /** True: requests without a token pass, with no claims. One with a bad token never does. */
  readonly isOptional?: boolean
  /** For an answer of your own. The default is the JSON body that `toRefusal` makes. */
  readonly toBody?: (refusal: Refusal, error: Error) => string
}

export type Outcome<Claims> =
  | { readonly claims: Claims | undefined; readonly refusal?: undefined }
  | { readonly refusal: Refusal }

/** @throws any error that is not about the token. */
export async function readClaims<Claims extends AccessTokenClaims>(
  { verifier, isOptional = false, toBody }: RequireTokenOptions<Claims>,
  authorization: string | null | undefined,
): Promise<Outcome<Claims>> {
  try {
    return { claims: await verifier.verifyHeader(authorization) }
  } catch (error) {
    if (isOptional && error instanceof TokenError && error.code === 'missing_token')
      return { claims: undefined }
    const refusal = toRefusal(error)
    if (!refusal) throw error
    return {
      refusal: toBody ? { ...refusal, body: toBody(refusal, error as Error) } : refusal,
    }
  }
}
