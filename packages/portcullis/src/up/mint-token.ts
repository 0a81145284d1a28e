import { SignJWT } from 'jose'

export interface TokenRequest {
  readonly role: string
  readonly audience: string
  readonly subject?: string | undefined
  readonly expiresInSeconds: number
}

/** Signs a token that the auth server with this JWT secret accepts. */
export async function mintToken(jwtSecret: string, request: TokenRequest): Promise<string> {
  const { role, audience, subject, expiresInSeconds } = request
  const token = new SignJWT({ role })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(`${expiresInSeconds}s`)
  if (subject !== undefined) token.setSubject(subject)
  return await token.sign(new TextEncoder().encode(jwtSecret))
}
