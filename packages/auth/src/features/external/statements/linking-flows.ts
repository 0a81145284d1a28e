import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'
import type { LinkingStep } from './external-flows.ts'

/** A flow whose browser may have to show that it is the one that asked. */
export interface OpenedLinking extends Row {
  readonly linking_step: Exclude<LinkingStep, 'unseen'>
  readonly provider_type: string
  readonly provider_url: string
  /** Whether the cookie of the request is the one that counts from now on. */
  readonly is_same: boolean
  /** Of the user who gets the identity. */
  readonly email: string | null
  readonly phone: string | null
}

/** Of flow `f`: not over. */
const isOpen = `f.id = $1 and f.linking_step is not null and f.claimed_at is null
       and f.created_at >= $3`

/**
 * A browser opens the URL that a script was given. If it has the cookie of that script, it has proven
 * to be the same browser. Otherwise the first one without a cookie gets one, and no other can go on.
 * No row: it is over, or another browser has it.
 * $1 state, $2 hash of the cookie in hexadecimal digits or null, $3 earliest start, $4 hash of a new
 * cookie.
 */
export const openLinking = statement(
  'open_linking',
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
)

/** The user of that browser agrees. $1 state, $2 hash of the cookie, $3 earliest start. */
export const agreeToLinking = statement(
  'agree_to_linking',
  `update {ns}.flow_states f set linking_step = 'agreed'
   where ${isOpen} and f.linking_step in ('asked', 'agreed') and f.browser_hash = decode($2, 'hex')
   returning f.provider_url`,
)

/** The user of that browser does not. The same. */
export const cancelLinking = statement(
  'cancel_linking',
  `delete from {ns}.flow_states f where ${isOpen} and f.browser_hash = decode($2, 'hex')
   returning f.referrer`,
)

/** A code is worth one exchange. $1 flow. */
export const takeLinkingFlow = statement(
  'take_linking_flow',
  'delete from {ns}.flow_states where id = $1 returning id',
)
