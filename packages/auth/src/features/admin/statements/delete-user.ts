import { statement } from '../../../db/statement.ts'

/**
 * What names a person in the log of what they did, and of what was done to them: the entries stay,
 * with ids, actions and times.
 */
const scrubAudit = (subject: string) => `scrubbed as (
     update {ns}.audit_log_entries a set ip_address = '',
       payload = (a.payload - 'actor_name') #- '{traits,user_email}' #- '{traits,user_phone}'
         || case when a.payload ->> 'actor_id' = ${subject}.id::text
           then '{"actor_username": ""}' else '{}' end::jsonb
     from ${subject}
     where coalesce(a.payload #>> '{traits,user_id}', a.payload ->> 'actor_id')::uuid = ${subject}.id
   )`

/**
 * Links in them would lead nowhere. Each way that a message names the user is looked up by an index of
 * its own: one condition for all of them would read the whole outbox.
 */
const dropMessages = (before: string) => `named as materialized (
     select n.name from ${before} u
       cross join unnest(array[u.email, u.email_change, u.phone, u.phone_change]) as n(name)
     where n.name is not null
     union
     select f.phone from ${before} u join {ns}.mfa_factors f on f.user_id = u.id
     where f.phone is not null
   ), unsent as (
     delete from {ns}.outbox where id = any(array(
       select o.id from named n join {ns}.outbox o on o.recipient = n.name and o.failed_at is null
       union all
       -- to an address that they wanted once
       select o.id from ${before} u
         join {ns}.outbox o on o.payload ->> 'Email' = u.email and o.failed_at is null
     ))
   )`

const logDeletion = (subject: string) => `logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $2, $3, $4, $5 from ${subject}
   )`

/** Before the user, as a refresh does: otherwise each could hold what the other waits for. */
const lockSessions = `locked as materialized (
     select id from {ns}.sessions where user_id = $1 order by id for update
   )`
const afterSessions = '(select count(*) from locked) >= 0'

const parameters = ['userId', 'auditId', 'auditPayload', 'ip', 'now'] as const

/** With everything that belongs to the user. No row: there is no such user. */
export const deleteUser = statement(
  'delete_user',
  parameters,
  `with ${lockSessions}, gone as (
     delete from {ns}.users where id = $1 and ${afterSessions} returning *
   ), ${scrubAudit('gone')}, ${dropMessages('gone')}, ${logDeletion('gone')}
   select id from gone`,
)

/** Nobody can find out what it was made of. */
const veil = (value: string) =>
  `encode(sha256(convert_to(${value} || gen_random_uuid()::text, 'UTF8')), 'hex')`

/**
 * Keeps the id, so that what refers to it stays whole, and nothing that tells who it was: the address
 * can be registered again.
 */
export const softDeleteUser = statement(
  'soft_delete_user',
  parameters,
  `with ${lockSessions}, before as materialized (
     select u.* from {ns}.users u where u.id = $1 and ${afterSessions} for update
   ), gone as (
     update {ns}.users u set deleted_at = coalesce(u.deleted_at, $5), updated_at = $5,
       email = ${veil('u.email')}, phone = ${veil('u.phone')},
       email_change = null, email_change_sent_at = null, email_change_confirm_status = 0,
       phone_change = null, phone_change_sent_at = null, encrypted_password = null,
       raw_user_meta_data = '{}', raw_app_meta_data = '{}'
     from before where u.id = before.id
     returning u.id
   ), identities_veiled as (
     update {ns}.identities i set provider_id = ${veil('i.provider_id')}, identity_data = '{}',
       updated_at = $5
     from gone where i.user_id = gone.id
   ), sessions_gone as (
     delete from {ns}.sessions s using gone where s.user_id = gone.id
   ), tokens_gone as (
     delete from {ns}.one_time_tokens t using gone where t.user_id = gone.id
   ), flows_gone as (
     delete from {ns}.flow_states f using gone where f.user_id = gone.id
   ), factors_gone as (
     delete from {ns}.mfa_factors f using gone where f.user_id = gone.id
   ), passkeys_gone as (
     delete from {ns}.webauthn_credentials k using gone where k.user_id = gone.id
   ), passkey_challenges_gone as (
     delete from {ns}.webauthn_challenges c using gone where c.user_id = gone.id
   ), failures_gone as (
     delete from {ns}.sign_in_failures f using gone where f.user_id = gone.id
   ), ${scrubAudit('gone')}, ${dropMessages('before')}, ${logDeletion('gone')}
   select id from gone`,
)
