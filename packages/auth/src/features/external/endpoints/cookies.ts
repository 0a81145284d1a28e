export interface CookieSettings {
  readonly maxAgeSeconds: number
  /** Whether it goes over TLS only; without it no other site can be let send it. */
  readonly isSecure: boolean
  /** `None`: also with forms that pages of other sites post. */
  readonly sameSite: 'Lax' | 'None'
}

/** The value of a `Set-Cookie` that no script reads. The value must need no quotes. */
export function toCookie(name: string, value: string, settings: CookieSettings): string {
  const { maxAgeSeconds, isSecure, sameSite } = settings
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${maxAgeSeconds}`, 'HttpOnly']
  return [...parts, ...(isSecure ? ['Secure'] : []), `SameSite=${sameSite}`].join('; ')
}

/** Undefined: the browser has sent no such cookie. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
