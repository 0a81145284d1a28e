import type { SignInLog } from '../features/audit/sign-in-log.ts'
import type { CallWatch } from './watched-call.ts'

const signInRoutes: ReadonlySet<string> = new Set([
  '/token',
  '/verify',
  '/factors/{factor_id}/verify',
  '/factors/recovery-codes/verify',
])

/** Requests to sign in that the limits per address refuse never reach an endpoint: they are noted here. */
export function noteLimitedSignIns(log: SignInLog, audience: string): CallWatch {
  return {
    begin: (call) => () => {
      const { route, failure, signInFailure, grantType, address: ip } = call
      if (failure?.code !== 'over_request_rate_limit' || signInFailure !== undefined) return
      if (!signInRoutes.has(route) || grantType === 'refresh_token') return
      log.noteFailure({ reason: 'limited', name: '', audience, userId: undefined, ip })
      call.signInFailure = { reason: 'limited', userId: undefined }
    },
  }
}
