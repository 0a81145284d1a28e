import { createHash } from 'node:crypto'
import { toIssuer } from '../../config/oauth-server.ts'
import type { Services } from '../../services.ts'
import type { ClientGrant } from '../../tokens/client-grants.ts'
import type { Amr, SessionRow } from '../sessions/statements/sessions.ts'
import { toUserClaims } from './user-claims.ts'

/** The method of sessions that clients open; how the user signed in is in the other methods. */
export const clientMethod = 'oauth_provider/authorization_code'

const lifetimeSeconds = 3_600

/** The names of RFC 8176. Methods without such a name are left out. */
const methodNames: Readonly<Record<string, string>> = {
  password: 'pwd',
  otp: 'otp',
  totp: 'otp',
  'mfa/phone': 'sms',
  'mfa/webauthn': 'hwk',
  passkey: 'hwk',
}

interface IdToken {
  readonly session: SessionRow
  readonly grant: ClientGrant
  readonly accessToken: string
  /** Empty: the request had none. */
  readonly nonce: string
}

/** Returns the signed ID token of a session (OpenID Connect Core 1.0, section 2). */
export async function createIdToken(services: Services, idToken: IdToken): Promise<string> {
  const { config, signer, signingKeys } = services
  const { session, grant, accessToken, nonce } = idToken
  const issuedAt = Math.floor(services.now() / 1_000)
  return signer.sign({
    iss: toIssuer(config),
    sub: session.id,
    aud: grant.client_id,
    exp: issuedAt + lifetimeSeconds,
    iat: issuedAt,
    auth_time: toAuthTime(session),
    ...(nonce !== '' && { nonce }),
    acr: session.aal,
    amr: toMethodNames(session),
    at_hash: toTokenHash(accessToken, signingKeys.signing.algorithm),
    sid: session.session_id,
    // The access token is signed with the same key, and must not be confused with this token.
    token_use: 'id',
    ...(await toUserClaims(services, session, grant)),
  })
}

/** When the user signed in to this server, in seconds. */
function toAuthTime({ amr, session_created_at: createdAt }: SessionRow): number {
  const times = amr
    .filter(({ method }) => method !== clientMethod)
    .map(({ timestamp }) => timestamp)
  return times.length > 0 ? Math.max(...times) : Math.floor(Date.parse(createdAt) / 1_000)
}

function toMethodNames({ amr, aal }: SessionRow): readonly string[] {
  const names = amr.flatMap(({ method }: Amr) => methodNames[method] ?? [])
  return [...new Set([...names, ...(aal === 'aal2' ? ['mfa'] : [])])]
}

/** The left half of the hash that belongs to the algorithm of the signature. */
function toTokenHash(token: string, algorithm: string): string {
  const isLong = algorithm.endsWith('512') || algorithm === 'EdDSA'
  const digest = createHash(isLong ? 'sha512' : 'sha256')
    .update(token)
    .digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
