import { ApiError } from '../../../errors.ts'
import type { Services } from '../../../services.ts'
import { isTrusted } from '../authorization-request.ts'
import { getPending, openAuthorization, refuse } from '../authorizations.ts'
import type { PendingRow } from '../statements/authorizations.ts'
import { findVisitor } from './browser-session.ts'

interface Visit {
  readonly cookie: string | undefined
  readonly ip: string
}

/**
 * Handles `prompt=none`: answers at once, without showing a page. Only the built-in page has a cookie that
 * says who has signed in; with the operator's page, the client always learns that a page is needed.
 * @returns where the browser continues, and whether it can be redirected there.
 */
export async function openSilently(
  services: Services,
  id: string,
  visit: Visit,
): Promise<{ readonly location: string; readonly isTrusted: boolean }> {
  const hasOwnPage = services.config.oauthServer.authorizationPath !== ''
  const person = hasOwnPage ? undefined : await findVisitor(services, visit.cookie)
  const isSignedIn = person !== undefined
  if (isSignedIn) {
    const decider = { person, ip: visit.ip }
    const opened = await openAuthorization(services, id, decider).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'reauthentication_needed') return undefined
      throw error
    })
    // The user has granted the request before.
    if (opened?.step === 'redirect') return { location: opened.location, isTrusted: true }
    if (opened !== undefined) {
      const message = 'The user has to decide about this request'
      return await refuseSilently(services, opened.request, 'consent_required', message)
    }
  }
  const request = await getPending(services, id)
  return await refuseSilently(services, request, 'login_required', 'The user has to sign in')
}

async function refuseSilently(
  services: Services,
  request: PendingRow,
  error: string,
  description: string,
) {
  const location = await refuse(services, request, error, description)
  return { location, isTrusted: isTrusted(request) }
}
