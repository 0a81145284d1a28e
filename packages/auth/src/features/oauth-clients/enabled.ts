import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'

/** @throws {ApiError} unless the OAuth server is enabled. */
export function requireOAuthServer({ config }: Pick<Services, 'config'>): void {
  if (config.oauthServer.enabled) return
  throw new ApiError('feature_disabled', 'OAuth server is disabled')
}
