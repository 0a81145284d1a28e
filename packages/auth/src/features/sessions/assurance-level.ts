import type { FactorRow, UserRow } from '../users/statements/user-row.ts'

/** A user with the session of the request. */
export interface Person extends UserRow {
  readonly session_id: string | null
  /** The lower of the assurance levels of token and session. */
  readonly aal: string | null
}

export function isVerified({ status }: FactorRow): boolean {
  return status === 'verified'
}

/** Whether a user with a second factor has not verified it in this session. */
export function isBelowLevel({ factors, aal }: Pick<Person, 'factors' | 'aal'>): boolean {
  return aal !== 'aal2' && factors.some(isVerified)
}
