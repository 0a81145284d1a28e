import {
  type AccessTokenClaims,
  createVerifier,
  TokenError,
  type Verifier,
} from '@portcullis/auth/verify'

export interface User {
  readonly id: string
  readonly email: string | undefined
}

export interface Caller {
  /** Undefined if the caller is not signed in. */
  readonly user?: User
  /** Why the token was refused. */
  readonly fault?: string
}

/** @throws {AuthUnavailableError} if the keys of the auth server cannot be fetched. */
export type Identify = (authorization: string | undefined) => Promise<Caller>

/** What the auth server signs with: a secret that it shares, or keys whose public halves it publishes. */
export type SigningKeys = { readonly secret: string } | { readonly authUrl: string }

/** Identifies callers by the access tokens of the auth server, without a request to that server. */
export function createIdentify(keys: SigningKeys): Identify {
  const verifier: Verifier = createVerifier(keys)
  return async (authorization) => {
    if (authorization === undefined) return {}
    try {
      return { user: toUser(await verifier.verifyHeader(authorization)) }
    } catch (error) {
      if (error instanceof TokenError) return { fault: error.message }
      throw error
    }
  }
}

function toUser({ sub, email }: AccessTokenClaims): User {
  return { id: sub, email: email || undefined }
}
