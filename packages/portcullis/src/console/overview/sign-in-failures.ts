import type { AuditEntry } from './audit-entries.ts'

/** Failed sign-ins with the same name, reason and address within ten minutes, as our auth server keeps them. */
export interface SignInFailure {
  readonly id: string
  /** Null: there is no such account. */
  readonly user_id: string | null
  /** Empty: no address or number was given, or something that is neither. */
  readonly name: string
  readonly reason: string
  readonly ip_address: string
  readonly count: number
  readonly first_at: string
  readonly last_at: string
}

/** What is no failure is left out. */
export function parseSignInFailures(text: string): readonly SignInFailure[] {
  const failures: unknown = JSON.parse(text)
  if (!Array.isArray(failures)) throw new Error('The list of failed sign-ins is not a list.')
  return failures.filter((failure): failure is SignInFailure => {
    const { id, name, reason, last_at }: Partial<Record<keyof SignInFailure, unknown>> =
      Object(failure)
    return [id, name, reason, last_at].every((each) => typeof each === 'string')
  })
}

/** A failure among the entries of the audit log. */
export function toFailureEntry(failure: SignInFailure): AuditEntry {
  const { id, user_id: userId, name, reason, ip_address, count, first_at, last_at } = failure
  return {
    id,
    created_at: last_at,
    ip_address,
    payload: {
      action: 'login_failed',
      actor_id: userId ?? '',
      actor_username: name,
      traits: { reason, count, first_at },
    },
  }
}
