// Who is asking: the token of the auth server, checked here without asking it.

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

const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'
const secret = process.env.AUTH_JWT_SECRET
const publicKeys = createRemoteJWKSet(new URL(`${authUrl}/.well-known/jwks.json`))
const audience = 'authenticated'

export async function identify(authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return {}
  try {
    const { sub: id, email } = await verify(authorization.replace(/^Bearer /i, ''))
    if (id === undefined) return { fault: 'ERR_NO_USER' }
    return { user: { id, email: email || undefined } }
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
    return { fault: error.code }
  }
}

/** @throws {errors.JOSEError} */
async function verify(token: string): Promise<JWTPayload & { readonly email?: string }> {
  // Say which algorithms you expect: a token must not choose how it is checked.
  const { payload } = secret
    ? await jwtVerify(token, new TextEncoder().encode(secret), { algorithms: ['HS256'], audience })
    : await jwtVerify(token, publicKeys, { algorithms: ['ES256', 'RS256', 'EdDSA'], audience })
  return payload
}
