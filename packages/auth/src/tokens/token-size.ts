import { ApiError } from '../errors.ts'
import type { Claims } from './json-web-token.ts'

/** The longest header and signature there are, of a key of RSA with 4,096 bits. */
const aroundClaimsBytes = 1_024

export interface TokenSize {
  readonly mostBytes: number
  /** Called with the user whose metadata have been left out. */
  readonly onOmitted: (userId: string) => void
}

/**
 * Claims that fit into a request header. Whoever has a token that servers refuse for its length could
 * not even repair what makes it so long. user_metadata are left out then: users write them themselves,
 * so nothing may depend on them. What administrators and hooks write may decide what somebody is
 * allowed to do, and is never left out.
 * @throws {ApiError} where the rest is too long as well.
 */
export function fitClaims(
  { mostBytes, onOmitted }: TokenSize,
  claims: Claims,
  isHooked: boolean,
): Claims {
  const fits = (candidate: Claims) =>
    Buffer.byteLength(JSON.stringify(candidate)) <= ((mostBytes - aroundClaimsBytes) * 3) / 4
  if (fits(claims)) return claims
  const without = { ...claims, user_metadata: {} }
  if (fits(without)) {
    onOmitted(String(claims['sub']))
    return without
  }
  const limit = `more than the ${mostBytes} bytes that an access token may have`
  throw isHooked
    ? new ApiError('hook_payload_over_size_limit', `The claims of the hook need ${limit}`)
    : new ApiError('unexpected_failure', `The app_metadata of the user need ${limit}`)
}
