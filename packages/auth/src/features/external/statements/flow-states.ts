import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import type { Metadata } from '../../../stored-json.ts'
import type { Time } from '../../users/statements/user-row.ts'

/**
 * The state of the browser that opens the URL given to a script. `unseen`: the URL has not been
 * opened. `proven`: the browser has the script's cookie. `asked`: it does not, so the user must agree.
 * `agreed`: the user has agreed.
 */
export type LinkingStep = 'unseen' | 'proven' | 'asked' | 'agreed'

/** A sign-in that continues at a provider. */
export interface NewFlow {
  /** Sent to the provider as `state` or `RelayState`. */
  readonly id: string
  readonly auth_code: string
  readonly code_challenge: string | null
  readonly code_challenge_method: string | null
  readonly authentication_method: 'oauth' | 'sso/saml'
  readonly provider_type: string
  /** What the provider's answer is checked with. */
  readonly provider_memo: Metadata
  readonly aud: string
  readonly referrer: string
  /** In hexadecimal, as is `invite_token_hash`; null if no cookie binds the flow to a browser. */
  readonly browser_hash: string | null
  /** Whether the redirect to the site has the tokens of the provider. */
  readonly asks_scopes: boolean
  readonly linking_target_id: string | null
  readonly linking_session_id: string | null
  /** Null when no confirmation page is needed. */
  readonly linking_step: LinkingStep | null
  readonly provider_url: string | null
  readonly invite_token_hash: string | null
  readonly now: Date
}

/** The fields of a flow that neither links an identity nor accepts an invitation. */
export const plainFlow = {
  asks_scopes: false,
  linking_target_id: null,
  linking_session_id: null,
  linking_step: null,
  provider_url: null,
  invite_token_hash: null,
} as const

export const startFlow = statement(
  'start_flow',
  object<NewFlow>(),
  `insert into {ns}.flow_states (id, auth_code, code_challenge, code_challenge_method,
     authentication_method, provider_type, provider_memo, aud, referrer, browser_hash, asks_scopes,
     linking_target_id, linking_session_id, linking_step, provider_url, invite_token_hash,
     created_at)
   select p.id, p.auth_code, p.code_challenge, p.code_challenge_method, p.authentication_method,
     p.provider_type, p.provider_memo, p.aud, p.referrer, decode(p.browser_hash, 'hex'),
     p.asks_scopes, p.linking_target_id, p.linking_session_id, p.linking_step, p.provider_url,
     decode(p.invite_token_hash, 'hex'), p.now
   from jsonb_to_record($1::jsonb) as p(id uuid, auth_code uuid, code_challenge text,
     code_challenge_method text, authentication_method text, provider_type text,
     provider_memo jsonb, aud text, referrer text, browser_hash text, asks_scopes boolean,
     linking_target_id uuid, linking_session_id uuid, linking_step text, provider_url text,
     invite_token_hash text, now timestamptz)`,
)

/** The columns of every claimed flow. */
export interface FlowClaim extends Row {
  readonly id: string
  readonly auth_code: string
  readonly code_challenge: string | null
  readonly provider_type: string
  readonly aud: string
  readonly referrer: string
  readonly created_at: Time
  /** Whether this browser started the flow, or no proof is required. */
  readonly is_bound: boolean
  /** Whether this call claimed the flow. */
  readonly is_claimed: boolean
}

/** The first parameters of a claim. The hash of the cookie is in hexadecimal, or null. */
export const claimParameters = ['state', 'browserHash', 'earliest', 'now'] as const

/**
 * Whether the cookie is that of flow `f`.
 * @param without SQL: whether the browser may return without a cookie. A wrong one is always refused.
 */
export const hasCookie = (without: string) => `(f.browser_hash is null
       or coalesce(f.browser_hash = decode($2, 'hex'), ${without}))`

interface ClaimRules {
  readonly method: NewFlow['authentication_method']
  /** SQL: whether the browser may continue flow `f`. */
  readonly isBound: string
  /** SQL: the columns of `found` besides those of every claim. */
  readonly columns: string
}

/**
 * Claims the flow of a browser that returns from a provider. Of several concurrent requests, exactly
 * one claims it, if it is in time and comes from the right browser. A flow that ends with tokens is
 * deleted. With PKCE, it stays for the code, which is useless without the verifier.
 */
export const toFlowClaim = ({
  method,
  isBound,
  columns,
}: ClaimRules) => `with found as materialized (
     select f.*, ${isBound} as is_bound
     from {ns}.flow_states f
     where f.id = $1 and f.provider_type <> '' and f.authentication_method = '${method}'
     for update
   ), claimable as materialized (
     select * from found
     where is_bound and claimed_at is null and created_at >= $3
   ), marked as (
     update {ns}.flow_states f set claimed_at = $4, provider_memo = '{}'
     from claimable c where f.id = c.id and c.code_challenge is not null
     returning f.id
   ), removed as (
     delete from {ns}.flow_states f
     using claimable c where f.id = c.id and c.code_challenge is null
     returning f.id
   )
   select found.id, found.auth_code, found.code_challenge, found.provider_type, found.aud,
     found.referrer, found.created_at, found.is_bound, ${columns},
     exists (select from marked) or exists (select from removed) as is_claimed
   from found`
