import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'
import type { Metadata } from '../../../stored-json.ts'
import type { Time } from '../../users/statements/user-row.ts'
import {
  claimParameters,
  type FlowClaim,
  hasCookie,
  type LinkingStep,
  toFlowClaim,
} from './flow-states.ts'

/** Finds the invited user by the hash of the link, in hexadecimal. */
export const findInvited = statement(
  'find_invited',
  ['tokenHash', 'now'],
  `select u.id from {ns}.one_time_tokens t join {ns}.users u on u.id = t.user_id
   where t.token_hash = decode($1, 'hex') and t.token_type = 'confirmation'
     and t.expires_at >= $2 and u.deleted_at is null`,
)

export interface ClaimedFlow extends FlowClaim {
  readonly provider_memo: Metadata
  readonly asks_scopes: boolean
  readonly linking_target_id: string | null
  readonly linking_session_id: string | null
  readonly linking_step: LinkingStep | null
  /** In hexadecimal. */
  readonly invite_token_hash: string | null
  readonly claimed_at: Time | null
}

/**
 * With PKCE, the browser may return without a cookie, but not with a wrong one. The same applies to
 * clients that keep no cookies. Linking adds an identity to an existing account, so the cookie is
 * always required, and the user's consent as well if the cookie is not proof.
 */
export const claimExternalFlow = statement(
  'claim_external_flow',
  [...claimParameters, 'isBrowser'],
  toFlowClaim({
    method: 'oauth',
    isBound: `case when f.linking_target_id is not null and f.code_challenge is null
       then coalesce(f.browser_hash = decode($2, 'hex'), false)
         and coalesce(f.linking_step in ('proven', 'agreed'), true)
       else ${hasCookie('f.code_challenge is not null or not $5')} end`,
    columns: `found.provider_memo, found.asks_scopes, found.linking_target_id,
     found.linking_session_id, found.linking_step,
     encode(found.invite_token_hash, 'hex') as invite_token_hash, found.claimed_at`,
  }),
).returning<ClaimedFlow>()

/**
 * Stores the user of the code and the provider's tokens. `linkingProfile` is linked when the code
 * is exchanged; it may be null, as may the refresh token.
 */
export const issueExternalCode = statement(
  'issue_external_code',
  ['flowId', 'userId', 'accessToken', 'refreshToken', 'now', 'linkingProfile'],
  `update {ns}.flow_states set user_id = $2, provider_access_token = $3,
     provider_refresh_token = $4, auth_code_issued_at = $5, linking_profile = $6
   where id = $1 and user_id is null
   returning auth_code`,
).returning<{ readonly auth_code: string }>()

/** A linking flow whose confirmation URL a browser has opened. */
export interface OpenedLinking extends Row {
  readonly linking_step: Exclude<LinkingStep, 'unseen'>
  readonly provider_type: string
  readonly provider_url: string
  /** Whether the browser has the cookie of the flow; otherwise it gets a new one. */
  readonly is_same: boolean
  /** The address of the user who gets the identity. */
  readonly email: string | null
  readonly phone: string | null
}

/** The hash of the cookie is in hexadecimal; null when the browser has none. */
const linkingParameters = ['state', 'browserHash', 'earliest'] as const

/** Whether flow `f` can still be continued. */
const isOpen = `f.id = $1 and f.linking_step is not null and f.claimed_at is null
       and f.created_at >= $3`

/**
 * Opens the URL given to a script. The script's cookie proves that this is the same browser.
 * Otherwise the first browser without a cookie gets one, and no other can continue.
 * Returns no row when the flow is over or belongs to another browser.
 */
export const openLinking = statement(
  'open_linking',
  [...linkingParameters, 'newBrowserHash'],
  `with found as materialized (
     select f.id, f.linking_step as step, coalesce(f.browser_hash = decode($2, 'hex'), false) as is_same
     from {ns}.flow_states f
     where ${isOpen}
     for update
   ), opened as (
     update {ns}.flow_states f set
       linking_step = case when not found.is_same then 'asked'
         when found.step = 'unseen' then 'proven' else found.step end,
       browser_hash = case when found.is_same then f.browser_hash else decode($4, 'hex') end
     from found
     where f.id = found.id and (found.is_same or found.step = 'unseen' and $2::text is null)
     returning f.linking_step, f.provider_type, f.provider_url, f.linking_target_id, found.is_same
   )
   select o.linking_step, o.provider_type, o.provider_url, o.is_same, u.email, u.phone
   from opened o join {ns}.users u on u.id = o.linking_target_id`,
).returning<OpenedLinking>()

/** Records that the user of the browser agrees. */
export const agreeToLinking = statement(
  'agree_to_linking',
  linkingParameters,
  `update {ns}.flow_states f set linking_step = 'agreed'
   where ${isOpen} and f.linking_step in ('asked', 'agreed') and f.browser_hash = decode($2, 'hex')
   returning f.provider_url`,
).returning<{ readonly provider_url: string }>()

/** Deletes the flow because the user of the browser does not agree. */
export const cancelLinking = statement(
  'cancel_linking',
  linkingParameters,
  `delete from {ns}.flow_states f where ${isOpen} and f.browser_hash = decode($2, 'hex')
   returning f.referrer`,
).returning<{ readonly referrer: string }>()

/** Deletes the flow, so that its code can be exchanged only once. */
export const takeLinkingFlow = statement(
  'take_linking_flow',
  ['flowId'],
  'delete from {ns}.flow_states where id = $1 returning id',
)
