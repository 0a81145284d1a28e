import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import type { AuditEntry } from '../audit/audit.ts'
import type { Client } from '../sessions/sessions.ts'
import {
  type NewUserInput,
  type UserDraft,
  unconfirmed,
  untouched,
} from '../user-changes/new-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { echoSignUp } from './statements.ts'

export interface RepeatedSignUp {
  /** The email address or phone number. */
  readonly name: string
  /** Creates the draft of a new user with this name. */
  readonly draft: (name: string, input: NewUserInput) => UserDraft
  readonly audience: string
  readonly data: Metadata
  readonly client: Client
  /** The user with this name who has not confirmed it yet. Only their IDs are returned. */
  readonly waiting?: UserRow
  readonly audit?: AuditEntry
}

/**
 * Returns exactly what a new user with this name would get, so that the response does not reveal
 * that the account exists.
 */
export async function answerRepeatedSignUp(
  services: Pick<Services, 'db' | 'config' | 'decoyIds' | 'now'>,
  { name, audience, data, client, waiting, audit, ...repeated }: RepeatedSignUp,
): Promise<UserRecord> {
  const { db, config, decoyIds, now } = services
  const id = waiting?.id ?? decoyIds.find(name, 'user')
  const identityId = waiting?.identities[0]?.id ?? decoyIds.find(name, 'identity')
  const draft = repeated.draft(name, {
    id,
    aud: audience,
    role: config.tokens.defaultGroup,
    data,
  })
  const [echo] = await db.run(echoSignUp, {
    auditId: audit?.id ?? null,
    auditPayload: audit?.payload ?? null,
    ip: client.ip,
    now: new Date(now()),
    data: draft.raw_user_meta_data,
  })
  if (echo === undefined) throw new Error('The statement echo_sign_up returned nothing')
  const times = { created_at: echo.now, updated_at: echo.now }
  const isMarked = config.site.marksRepeatedSignup && waiting === undefined
  return toUserRecord({
    ...draft,
    ...unconfirmed,
    ...untouched,
    ...times,
    confirmation_sent_at: echo.now,
    recovery_sent_at: null,
    is_sso_user: false,
    // Supabase Auth marks the response in these three fields.
    role: isMarked ? '' : draft.role,
    raw_user_meta_data: isMarked ? data : echo.data,
    factors: [],
    identities: (isMarked ? [] : draft.identities).map((identity) => ({
      ...identity,
      ...times,
      id: identityId,
      identity_data: echo.data,
      last_sign_in_at: echo.now,
      user_id: id,
      email: draft.email,
    })),
  })
}
