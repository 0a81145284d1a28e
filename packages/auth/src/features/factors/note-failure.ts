import type { Services } from '../../services.ts'
import { notingFailure } from '../audit/sign-in-log.ts'
import type { Client } from '../sessions/sessions.ts'
import type { Member } from './member.ts'

interface FactorAttempt {
  readonly member: Member
  readonly audience: string
  readonly client: Client
}

/** The second step of a sign-in; a failure is noted with the user, who is known by then. */
export function notingFactorFailure<Result>(
  { signInLog }: Services,
  { member, audience, client }: FactorAttempt,
  verify: () => Promise<Result>,
): Promise<Result> {
  const name = member.email ?? member.phone ?? ''
  return notingFailure(signInLog, { name, audience, userId: member.id, ip: client.ip }, verify)
}
