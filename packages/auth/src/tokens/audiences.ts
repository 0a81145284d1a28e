import { invalid } from '../errors.ts'

/** Longer audiences do not fit into the index of the user list. */
export const longestAudience = 255

interface Audiences {
  /** The default, for requests that do not name an audience. */
  readonly audience: string
  /** Other audiences that a request may name. */
  readonly allowedAudiences: readonly string[]
}

/**
 * Applications accept tokens by their audience, so only the operator may define audiences.
 * @throws {ApiError}
 */
export function checkAudience(named: string, { audience, allowedAudiences }: Audiences): void {
  if (named === audience || allowedAudiences.includes(named)) return
  throw invalid('The audience is not allowed')
}
