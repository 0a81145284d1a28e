import type { Amr } from '../db/sessions.ts'
import type { UserRow } from '../db/user-row.ts'
import type { TokenSigner } from './json-web-token.ts'

export interface AccessTokenSettings {
  readonly expiresInSeconds: number
  readonly issuer: string | undefined
}

export interface SignedIn {
  readonly user: UserRow
  readonly sessionId: string
  readonly aal: string
  readonly amr: readonly Amr[]
}

export interface AccessToken {
  readonly text: string
  readonly expiresInSeconds: number
  readonly expiresAtSeconds: number
}

export function createAccessToken(
  signer: TokenSigner,
  { expiresInSeconds, issuer }: AccessTokenSettings,
  { user, sessionId, aal, amr }: SignedIn,
  nowMs: number,
): AccessToken {
  const issuedAt = Math.floor(nowMs / 1_000)
  const expiresAtSeconds = issuedAt + expiresInSeconds
  const text = signer.sign({
    ...(issuer !== undefined && { iss: issuer }),
    sub: user.id,
    aud: user.aud,
    exp: expiresAtSeconds,
    iat: issuedAt,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    role: user.role,
    aal,
    amr: amr.toSorted((a, b) => b.timestamp - a.timestamp),
    session_id: sessionId,
    is_anonymous: user.is_anonymous,
  })
  return { text, expiresInSeconds, expiresAtSeconds }
}
