import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { FactorRow, UserRow } from '../users/statements/user-row.ts'
import { logOut } from './session-list.ts'
import type { Client } from './sessions.ts'

interface Attempt {
  readonly user: UserRow
  readonly isRight: boolean
  readonly client: Client
}

/** Lets a hook reject the attempt, whether the password is correct or not. @throws {ApiError} */
export async function judgePassword(services: Services, attempt: Attempt): Promise<void> {
  const { user, isRight, client } = attempt
  const hook = services.hooks.passwordVerificationAttempt
  const verdict = await hook?.({ user_id: user.id, valid: isRight }, { ip: client.ip })
  if (!verdict?.isRejected) return
  if (verdict.logsUserOut) await endSessions(services, attempt)
  throw new ApiError(
    'invalid_credentials',
    verdict.message || 'Further password verification attempts will be rejected.',
  )
}

/**
 * Lets a hook reject the attempt to verify a second factor. A rejection signs the user out.
 * @throws {ApiError}
 */
export async function judgeFactor(
  services: Services,
  attempt: Attempt & { readonly factor: FactorRow },
): Promise<void> {
  const { user, factor, isRight, client } = attempt
  const verdict = await services.hooks.mfaVerificationAttempt?.(
    {
      user_id: user.id,
      factor_id: factor.id,
      factor_type: factor.factor_type,
      valid: isRight,
    },
    { ip: client.ip },
  )
  if (!verdict?.isRejected) return
  await endSessions(services, attempt)
  throw new ApiError(
    'mfa_verification_rejected',
    verdict.message || 'Further MFA verification attempts will be rejected.',
  )
}

async function endSessions(services: Services, { user, client }: Attempt): Promise<void> {
  const entry = toAuditEntry('logout', user)
  const { ip } = client
  await logOut(services, { userId: user.id, sessionId: null, scope: 'global', entry, ip })
}
