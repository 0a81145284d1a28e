import { errors, type JWTPayload, jwtVerify } from 'jose'

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

/** Tells who is asking by the auth server's token, without asking that server. */
export function createIdentify(jwtSecret: string): Identify {
  const secret = new TextEncoder().encode(jwtSecret)
  // Say which algorithms you expect: a token must not choose how it is checked.
  const expected = { algorithms: ['HS256'], audience: 'authenticated' }
  return async (authorization) => {
    if (authorization === undefined) return {}
    try {
      const token = authorization.replace(/^Bearer /i, '')
      const { payload } = await jwtVerify<JWTPayload & { email?: string }>(token, secret, expected)
      if (payload.sub === undefined) return { fault: 'ERR_NO_USER' }
      return { user: { id: payload.sub, email: payload.email || undefined } }
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      return { fault: error.code }
    }
  }
}
