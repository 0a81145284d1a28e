import type { VerifyOtpParams } from '@supabase/auth-js'

/** A message that is under way to somebody who wants to sign in. */
export interface Sent {
  readonly kind: SentKind
  readonly to: string
}

export type SentKind = 'confirmation' | 'magic-link' | 'recovery' | 'sms'

interface SentWords {
  /** What the message has in it. */
  readonly what: string
  readonly toParams: (to: string, token: string) => VerifyOtpParams
}

export const sentWords: Readonly<Record<SentKind, SentWords>> = {
  confirmation: {
    what: 'A link that confirms your address, and a code,',
    toParams: (email, token) => ({ type: 'email', email, token }),
  },
  'magic-link': {
    what: 'A link that signs you in, and a code,',
    toParams: (email, token) => ({ type: 'email', email, token }),
  },
  recovery: {
    what: 'A link to set a new password, and a code,',
    toParams: (email, token) => ({ type: 'recovery', email, token }),
  },
  sms: {
    what: 'A code by SMS',
    toParams: (phone, token) => ({ type: 'sms', phone, token }),
  },
}

// Whoever goes to the Mailbox for the code finds the place for it when they come back.
let last: Sent | undefined

export function readLastSent(): Sent | undefined {
  return last
}

export function saveLastSent(sent: Sent | undefined): void {
  last = sent
}
