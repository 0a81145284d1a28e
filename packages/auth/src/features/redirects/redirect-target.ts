import { invalid } from '../../errors.ts'
import type { Call } from '../../http/call.ts'
import type { Redirects } from './redirects.ts'

/**
 * Where a browser goes in the end: what the request names, if it is permitted; its referrer, if that
 * is; otherwise the site. A target that is not permitted fails the request before anything happens,
 * save in the dialect of the client, which expects the site then (D5).
 * @throws {ApiError}
 */
export function findRedirectTarget(
  call: Pick<Call, 'header' | 'query' | 'isSdk'>,
  redirects: Redirects,
  inBody?: string,
): string {
  // An empty one says nothing, and must not hide one that does.
  const named = call.header('redirect_to') || call.query['redirect_to'] || inBody
  if (named) {
    const verdict = redirects.judge(named)
    if (verdict.isPermitted) return verdict.target
    if (!call.isSdk) throw invalid('redirect_to is not permitted')
    return redirects.siteUrl
  }
  const verdict = redirects.judge(call.header('referer') ?? '')
  return verdict.isPermitted ? verdict.target : redirects.siteUrl
}
