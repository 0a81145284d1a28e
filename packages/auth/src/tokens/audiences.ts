import { invalid } from '../errors.ts'

/** Longer ones do not fit into the index of the list of users. */
export const longestAudience = 255

interface Audiences {
  /** Of users whose request names none. */
  readonly audience: string
  /** Others that a request may name. */
  readonly allowedAudiences: readonly string[]
}

/**
 * Applications take tokens by their audience, so it is the operator who says which audiences there are.
 * @throws {ApiError}
 */
export function checkAudience(named: string, { audience, allowedAudiences }: Audiences): void {
  if (named === audience || allowedAudiences.includes(named)) return
  throw invalid('The audience is not allowed')
}
