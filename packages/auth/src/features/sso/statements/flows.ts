import { statement } from '../../../db/statement.ts'
import {
  claimParameters,
  type FlowClaim,
  hasCookie,
  toFlowClaim,
} from '../../external/statements/flow-states.ts'

export interface ClaimedSsoFlow extends FlowClaim {
  /** The ID of the request, which the response must answer. */
  readonly request_id: string
}

/** With PKCE, the code is useless without the verifier, so the browser may return without the cookie. */
export const claimSsoFlow = statement(
  'claim_sso_flow',
  claimParameters,
  toFlowClaim({
    method: 'sso/saml',
    isBound: hasCookie('f.code_challenge is not null'),
    columns: `found.provider_memo ->> 'request_id' as request_id`,
  }),
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
