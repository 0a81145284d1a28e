import { type Statement, statement } from './statement.ts'

/** So many rows at a time, so that nobody waits for a lock of ours. */
export const purgedAtOnce = 500

/** $1 the time before which rows are of no use. */
const purge = (table: string, key: string, condition: string): Statement =>
  statement(
    `purge_${table}`,
    `with gone as (
       delete from {ns}.${table} where (${key}) in (
         select ${key} from {ns}.${table} where ${condition}
         limit ${purgedAtOnce} for update skip locked
       ) returning 1
     )
     select count(*)::integer as count from gone`,
  )

export const purgeSessions = purge('sessions', 'id', 'revoked_at < $1 or not_after < $1')
export const purgeOneTimeTokens = purge('one_time_tokens', 'user_id, token_type', 'expires_at < $1')
export const purgeFlowStates = purge('flow_states', 'id', 'created_at < $1')
export const purgeMessageGaps = purge('message_gaps', 'key', 'sent_at < $1')
export const purgeCodeAttempts = purge('code_attempts', 'key', 'tried_at < $1')
export const purgeChallenges = purge('mfa_challenges', 'id', 'expires_at < $1')
export const purgeWebAuthnChallenges = purge('webauthn_challenges', 'id', 'expires_at < $1')
export const purgeFactors = purge(
  'mfa_factors',
  'id',
  "status = 'unverified' and created_at < $1 and coalesce(last_challenged_at, created_at) < $1",
)
