import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import { type AdminAction } from '../../audit/admin-action.ts'
import { actionColumns, logAction } from '../../audit/statements.ts'
import type { Time } from '../../users/statements/user-row.ts'

export interface ScimTokenRow extends Row {
  readonly id: string
  readonly created_at: Time
}

interface ScimTokenAction extends AdminAction {
  readonly id: string
  readonly sso_provider_id: string
}

interface NewScimToken extends ScimTokenAction {
  /** In hexadecimal. */
  readonly token_hash: string
  /** How many tokens a provider may have. */
  readonly most: number
}

const parameters = `p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, sso_provider_id uuid, token_hash text,
       most int, ${actionColumns})
   )`

/** Returns no row if the provider has too many. */
export const addScimToken = statement(
  'add_scim_token',
  object<NewScimToken>(),
  `with ${parameters}, t as (
     insert into {ns}.scim_tokens (id, sso_provider_id, token_hash, created_at)
     select p.id, p.sso_provider_id, decode(p.token_hash, 'hex'), p.now from p
     where (select count(*) from {ns}.scim_tokens o
       where o.sso_provider_id = p.sso_provider_id) < p.most
     returning *
   ), ${logAction('t')}
   select id, created_at from t`,
).returning<ScimTokenRow>()

export const listScimTokens = statement(
  'list_scim_tokens',
  ['providerId'],
  `select id, created_at from {ns}.scim_tokens where sso_provider_id = $1
   order by created_at, id`,
).returning<ScimTokenRow>()

/** Returns no row if the provider has no such token. */
export const removeScimToken = statement(
  'remove_scim_token',
  object<ScimTokenAction>(),
  `with ${parameters}, t as (
     delete from {ns}.scim_tokens t using p
     where t.id = p.id and t.sso_provider_id = p.sso_provider_id
     returning t.id
   ), ${logAction('t')}
   select id from t`,
)

/** Returns the provider of a token, unless it is disabled. The hash is in hexadecimal. */
export const findScimProvider = statement(
  'find_scim_provider',
  ['tokenHash'],
  `select s.id from {ns}.scim_tokens t join {ns}.sso_providers s on s.id = t.sso_provider_id
   where t.token_hash = decode($1, 'hex') and s.disabled is not true`,
).returning<{ readonly id: string }>()
