import { statement } from '../../../db/statement.ts'

/**
 * Removes personal data from the audit entries about a user. The entries stay, with IDs, actions
 * and times.
 */
const scrubAudit = (subject: string) => `scrubbed as (
     update {ns}.audit_log_entries a set ip_address = '',
       payload = (a.payload - '{actor_name,user_agent,request_id}'::text[]) #- '{traits,user_email}' #- '{traits,user_phone}'
         || case when a.payload ->> 'actor_id' = ${subject}.id::text
           then '{"actor_username": ""}' else '{}' end::jsonb
     from ${subject}
     where coalesce(a.payload #>> '{traits,user_id}', a.payload ->> 'actor_id')::uuid = ${subject}.id
   )`

/**
 * Deletes unsent messages, whose links would no longer work. There is one subquery for each way in
 * which a message names the user, because each has its own index: a single condition would scan the
 * whole outbox.
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
       -- messages to an address that the user wanted to change to
       select o.id from ${before} u
         join {ns}.outbox o on o.payload ->> 'Email' = u.email and o.failed_at is null
     ))
   )`

const logDeletion = (subject: string) => `logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $2, $3, $4, $5 from ${subject}
   )`

/**
 * Locks sessions before the user, in the same order as a token refresh and a SCIM request, to avoid
 * deadlocks.
 */
const lockSessions = `provisioned as materialized (
     select user_id from {ns}.scim_users where user_id = $1 for update
   ), locked as materialized (
     select id from {ns}.sessions
     where user_id = $1 and (select count(*) from provisioned) >= 0
     order by id for update
   )`
const afterSessions = '(select count(*) from locked) >= 0'

const parameters = ['userId', 'auditId', 'auditPayload', 'ip', 'now'] as const

/** Deletes a user with all their data. Returns no row when the user does not exist. */
export const deleteUser = statement(
  'delete_user',
  parameters,
  `with ${lockSessions}, gone as (
     delete from {ns}.users where id = $1 and ${afterSessions} returning *
   ), ${scrubAudit('gone')}, ${dropMessages('gone')}, ${logDeletion('gone')}
   select id from gone`,
)

/** A random hash: the original value cannot be recovered, not even by guessing. */
const anonymize = (value: string) =>
  `encode(sha256(convert_to(${value} || gen_random_uuid()::text, 'UTF8')), 'hex')`

/**
 * Keeps the ID, so that references to it stay valid, and removes all personal data. The address can
 * be registered again.
 */
export const softDeleteUser = statement(
  'soft_delete_user',
  parameters,
  `with ${lockSessions}, before as materialized (
     select u.* from {ns}.users u where u.id = $1 and ${afterSessions} for update
   ), gone as (
     update {ns}.users u set deleted_at = coalesce(u.deleted_at, $5), updated_at = $5,
       email = ${anonymize('u.email')}, phone = ${anonymize('u.phone')},
       email_change = null, email_change_sent_at = null, email_change_confirm_status = 0,
       phone_change = null, phone_change_sent_at = null, encrypted_password = null,
       raw_user_meta_data = '{}', raw_app_meta_data = '{}'
     from before where u.id = before.id
     returning u.id
   ), identities_anonymized as (
     update {ns}.identities i set provider_id = ${anonymize('i.provider_id')}, identity_data = '{}',
       updated_at = $5
     from gone where i.user_id = gone.id
   ), sessions_gone as (
     delete from {ns}.sessions s using gone where s.user_id = gone.id
   ), scim_gone as (
     delete from {ns}.scim_users s using gone where s.user_id = gone.id
   ), tokens_gone as (
     delete from {ns}.one_time_tokens t using gone where t.user_id = gone.id
   ), flows_gone as (
     delete from {ns}.flow_states f using gone where f.user_id = gone.id
   ), factors_gone as (
     delete from {ns}.mfa_factors f using gone where f.user_id = gone.id
   ), passkeys_gone as (
     delete from {ns}.webauthn_credentials k using gone where k.user_id = gone.id
   ), api_keys_gone as (
     delete from {ns}.api_keys k using gone where k.user_id = gone.id
   ), passkey_challenges_gone as (
     delete from {ns}.webauthn_challenges c using gone where c.user_id = gone.id
   ), failures_gone as (
     delete from {ns}.sign_in_failures f using gone where f.user_id = gone.id
   ), ${scrubAudit('gone')}, ${dropMessages('before')}, ${logDeletion('gone')}
   select id from gone`,
)
