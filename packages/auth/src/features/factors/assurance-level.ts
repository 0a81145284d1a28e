import type { FactorRow, UserRow } from '../users/statements/user-row.ts'

/** A user as the session knows them. */
export interface Person extends UserRow {
  readonly session_id: string | null
  /** What the token and the session agree on. */
  readonly aal: string | null
}

export function isVerified({ status }: FactorRow): boolean {
  return status === 'verified'
}

/** Whether somebody who could show a second factor has not done so. */
export function isBelowLevel({ factors, aal }: Pick<Person, 'factors' | 'aal'>): boolean {
  return aal !== 'aal2' && factors.some(isVerified)
}
