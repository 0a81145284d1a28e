import { statement } from '../../../db/statement.ts'
import {
  noticeColumn,
  type WithNotices,
  writeNotices,
} from '../../../messages/statements/notices.ts'
import type { NewAuditEntry } from '../../../messages/statements/request-parts.ts'

export interface FactorRemoval extends WithNotices {
  readonly factor_id: string
  readonly user_id: string
  /** By the types of factors: what they are called in the amr. */
  readonly methods: Readonly<Record<string, string>>
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

/**
 * A factor goes, and with the last one the recovery codes, which are never the only factor. What rests
 * on it drops to the first level. The row of the factor; none: there is no such factor.
 * $1 a FactorRemoval.
 */
export const removeFactor = statement(
  'remove_factor',
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(factor_id uuid, user_id uuid, methods jsonb,
       now timestamptz, ip text, audit jsonb, ${noticeColumn})
   ), lowered as materialized (
     -- Before the user, as a refresh does: otherwise each could hold what the other waits for.
     select s.id, s.factor_id from {ns}.sessions s cross join p
     where s.user_id = p.user_id and s.factor_id is not null
     order by s.id for update of s
   ), owner as materialized (
     select u.* from {ns}.users u cross join p
     where u.id = p.user_id and (select count(*) from lowered) >= 0
     for update of u
   ), gone as (
     delete from {ns}.mfa_factors f using owner o cross join p
     where f.id = p.factor_id and f.user_id = o.id
     returning f.*
   ), left_over as materialized (
     select f.factor_type from {ns}.mfa_factors f join gone g on g.user_id = f.user_id
     where f.id <> g.id and f.status = 'verified'
   ), codes_gone as (
     delete from {ns}.mfa_factors f using gone g
     where f.user_id = g.user_id and f.factor_type = 'recovery_code' and f.id <> g.id
       and g.status = 'verified'
       and not exists (select from left_over l where l.factor_type <> 'recovery_code')
     returning f.*
   ), removed as materialized (
     select id, factor_type from gone union all select id, factor_type from codes_gone
   ), orphans as materialized (
     -- What the removed are called in the amr, where no other factor of their type is left.
     select array(
       select p.methods ->> r.factor_type from removed r
       where r.factor_type not in (select l.factor_type from left_over l)
     ) as methods, array(select value from jsonb_each_text(p.methods)) as every
     from gone g cross join p where g.status = 'verified'
   ), dropped as (
     -- The level of a session rests on the factor that it names.
     update {ns}.sessions s set
       aal = case when l.factor_id in (select id from removed) then 'aal1' else s.aal end,
       factor_id = case when l.factor_id in (select id from removed) then null else s.factor_id end,
       amr = (select coalesce(jsonb_agg(e), '[]') from jsonb_array_elements(s.amr) e
         where not e ->> 'method' = any(
           case when l.factor_id in (select id from removed) then o.every else o.methods end)),
       updated_at = p.now
     from lowered l cross join p cross join orphans o
     where s.id = l.id
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select a.id, a.payload, p.ip, p.now
     from gone cross join p cross join jsonb_to_record(p.audit) as a(id uuid, payload jsonb)
   ), ${writeNotices('gone cross join owner u cross join p')}
   select id, factor_type, friendly_name, status, phone, web_authn_aaguid, last_challenged_at,
     created_at, updated_at
   from gone`,
)
