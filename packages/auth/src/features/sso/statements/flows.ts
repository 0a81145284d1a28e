import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import type { Time } from '../../users/statements/user-row.ts'

export interface NewSsoFlow {
  /** Sent to the identity provider as `RelayState`. */
  readonly id: string
  readonly auth_code: string
  readonly code_challenge: string | null
  readonly code_challenge_method: string | null
  /** `sso:` and the ID of the provider. */
  readonly provider_type: string
  /** The ID of the request, which the response must answer. */
  readonly request_id: string
  readonly aud: string
  readonly referrer: string
  /** In hexadecimal; null if no cookie binds the flow to a browser. */
  readonly browser_hash: string | null
  readonly now: Date
}

export const startSsoFlow = statement(
  'start_sso_flow',
  object<NewSsoFlow>(),
  `insert into {ns}.flow_states (id, auth_code, code_challenge, code_challenge_method,
     authentication_method, provider_type, provider_memo, aud, referrer, browser_hash, asks_scopes,
     created_at)
   select p.id, p.auth_code, p.code_challenge, p.code_challenge_method, 'sso/saml',
     p.provider_type, jsonb_build_object('request_id', p.request_id), p.aud, p.referrer,
     decode(p.browser_hash, 'hex'), false, p.now
   from jsonb_to_record($1::jsonb) as p(id uuid, auth_code uuid, code_challenge text,
     code_challenge_method text, provider_type text, request_id text, aud text, referrer text,
     browser_hash text, now timestamptz)`,
)

export interface ClaimedSsoFlow extends Row {
  readonly id: string
  readonly auth_code: string
  readonly code_challenge: string | null
  readonly provider_type: string
  readonly request_id: string
  readonly aud: string
  readonly referrer: string
  readonly created_at: Time
  /** Whether this browser started the flow, or no proof is required. */
  readonly is_bound: boolean
  /** Whether this call claimed the flow. */
  readonly is_claimed: boolean
}

/**
 * Claims the flow of a browser that returns from an identity provider. Of several concurrent
 * requests, exactly one claims it. A flow that ends with tokens is deleted. With PKCE, the code is
 * useless without the verifier, so the browser may return without the cookie. `browserHash` is the
 * hash of the cookie in hexadecimal, or null.
 */
export const claimSsoFlow = statement(
  'claim_sso_flow',
  ['state', 'browserHash', 'earliest', 'now'],
  `with found as materialized (
     select f.*, f.browser_hash is null
       or coalesce(f.browser_hash = decode($2, 'hex'), f.code_challenge is not null) as is_bound
     from {ns}.flow_states f
     where f.id = $1 and f.authentication_method = 'sso/saml'
     for update
   ), marked as (
     update {ns}.flow_states f set claimed_at = $4
     from found
     where f.id = found.id and found.is_bound and found.claimed_at is null
       and found.created_at >= $3 and found.code_challenge is not null
     returning f.id
   ), removed as (
     delete from {ns}.flow_states f using found
     where f.id = found.id and found.is_bound and found.claimed_at is null
       and found.created_at >= $3 and found.code_challenge is null
     returning f.id
   )
   select found.id, found.auth_code, found.code_challenge, found.provider_type,
     found.provider_memo ->> 'request_id' as request_id, found.aud, found.referrer,
     found.created_at, found.is_bound,
     exists (select from marked) or exists (select from removed) as is_claimed
   from found`,
).returning<ClaimedSsoFlow>()

/** `notAfter` may be null. */
export const issueSsoCode = statement(
  'issue_sso_code',
  ['flowId', 'userId', 'notAfter', 'now'],
  `update {ns}.flow_states set user_id = $2, session_not_after = $3, auth_code_issued_at = $4
   where id = $1 and user_id is null
   returning auth_code`,
).returning<{ readonly auth_code: string }>()

/** Records that an assertion was used. Returns no row if it was used before. */
export const useAssertion = statement(
  'use_assertion',
  ['providerId', 'idHash', 'expiresAt'],
  `insert into {ns}.saml_assertions (sso_provider_id, id_hash, expires_at)
   values ($1, decode($2, 'hex'), $3)
   on conflict do nothing
   returning 1 as used`,
)
