import { SignJWT } from 'jose'

const lifetimeSeconds = 300
const renewSeconds = 60

/** Keys for the admin endpoints of our own auth server, each good for minutes only. */
export function createAdminKeys(jwtSecret: string): () => Promise<string> {
  const secret = new TextEncoder().encode(jwtSecret)
  let key: Promise<string> | undefined
  let madeAt = 0
  return () => {
    const now = Date.now() / 1000
    if (key !== undefined && now < madeAt + lifetimeSeconds - renewSeconds) return key
    madeAt = now
    key = new SignJWT({ role: 'service_role' })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('authenticated')
      .setSubject('portcullis-console')
      .setIssuedAt()
      .setExpirationTime(`${lifetimeSeconds}s`)
      .sign(secret)
    return key
  }
}
