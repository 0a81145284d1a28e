import type { LeakSource } from '../../passwords/password-policy.ts'

export interface PwnedPasswordsSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly userAgent: string
  /** Another place with the same API. */
  readonly baseUrl?: string | undefined
}

/** The list of haveibeenpwned.com (reference 12.4). */
export function createPwnedPasswords(settings: PwnedPasswordsSettings): LeakSource {
  const { fetch, userAgent, baseUrl = 'https://api.pwnedpasswords.com' } = settings
  return {
    async readRange(prefix) {
      const response = await fetch(`${baseUrl}/range/${prefix}`, {
        // Padded, so that the length of the answer does not tell the beginning to who listens.
        headers: { accept: 'text/plain', 'add-padding': 'true', 'user-agent': userAgent },
      })
      if (response.ok) return response.text()
      throw new Error(`${new URL(baseUrl).host} answered ${response.status}`)
    },
  }
}
