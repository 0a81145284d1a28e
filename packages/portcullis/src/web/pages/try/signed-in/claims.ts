/** What the page reads of an access token. Only who has the secret can tell whether it is true. */
export interface Claims {
  /** Seconds since the epoch. */
  readonly exp: number
  readonly iat: number
  readonly aal?: string
  readonly amr?: readonly { readonly method: string; readonly timestamp: number }[]
  readonly session_id?: string
  readonly role?: string
}

export function parseClaims(token: string): Claims {
  const part = token.split('.')[1] ?? ''
  const base64 = part.replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes))
}
