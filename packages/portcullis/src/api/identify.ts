import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'

export interface User {
  readonly id: string
  readonly email: string | undefined
}

export interface Caller {
  /** Undefined for whoever is not signed in. */
  readonly user?: User
  /** Why the token was not believed. */
  readonly fault?: string
}

export type Identify = (authorization: string | undefined) => Promise<Caller>

/** What the auth server signs with: a secret we share, or keys whose public halves it shows. */
export type SigningKeys = { readonly secret: string } | { readonly authUrl: string }

type Verify = (token: string) => Promise<{ readonly payload: JWTPayload & { email?: string } }>

/** Tells who is asking by the auth server's token, without asking that server. */
export function createIdentify(keys: SigningKeys): Identify {
  const verify = createVerify(keys)
  return async (authorization) => {
    if (authorization === undefined) return {}
    try {
      const { payload } = await verify(authorization.replace(/^Bearer /i, ''))
      if (payload.sub === undefined) return { fault: 'ERR_NO_USER' }
      return { user: { id: payload.sub, email: payload.email || undefined } }
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      return { fault: error.code }
    }
  }
}

function createVerify(keys: SigningKeys): Verify {
  const audience = 'authenticated'
  // Say which algorithms you expect: a token must not choose how it is checked.
  if ('secret' in keys) {
    const secret = new TextEncoder().encode(keys.secret)
    return (token) => jwtVerify(token, secret, { algorithms: ['HS256'], audience })
  }
  const publicKeys = createRemoteJWKSet(new URL(`${keys.authUrl}/.well-known/jwks.json`))
  const algorithms = ['ES256', 'RS256', 'EdDSA']
  return (token) => jwtVerify(token, publicKeys, { algorithms, audience })
}
