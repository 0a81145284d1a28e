import { ApiError } from '../../../errors.ts'
import type { Services } from '../../../services.ts'
import { getPending, openAuthorization, refuse } from '../authorizations.ts'
import { findVisitor } from './browser-session.ts'

interface Visit {
  readonly cookie: string | undefined
  readonly ip: string
}

/**
 * Handles `prompt=none`: answers at once, without showing a page. Only the built-in page has a cookie that
 * says who has signed in; with the operator's page, the client always learns that a page is needed.
 * @returns where to redirect the browser.
 */
export async function openSilently(services: Services, id: string, visit: Visit): Promise<string> {
  const hasOwnPage = services.config.oauthServer.authorizationPath !== ''
  const person = hasOwnPage ? undefined : await findVisitor(services, visit.cookie)
  const isSignedIn = person !== undefined
  if (isSignedIn) {
    const decider = { person, ip: visit.ip }
    const opened = await openAuthorization(services, id, decider).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'reauthentication_needed') return undefined
      throw error
    })
    if (opened?.step === 'redirect') return opened.location
    if (opened !== undefined) {
      const message = 'The user has to decide about this request'
      return refuse(services, opened.request, 'consent_required', message)
    }
  }
  const request = await getPending(services, id)
  return refuse(services, request, 'login_required', 'The user has to sign in')
}
