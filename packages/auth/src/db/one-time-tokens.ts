import type { Row } from './database.ts'
import type { Amr } from './sessions.ts'
import { type Statement, statement } from './statement.ts'
import { selectUserWith } from './user-row.ts'

/** Somebody shows a one-time token. */
export interface Verification {
  readonly now: Date
  readonly ip: string
  readonly user_agent: string
  /** By the types of token that will do: how the user will have signed in. */
  readonly methods: Readonly<Record<string, string>>
  /** Of a link, in hexadecimal digits. */
  readonly token_hash: string | null
  readonly is_pkce: boolean
  /** Of digits, in hexadecimal digits, with who got them. */
  readonly otp_hash: string | null
  readonly relates_to: string | null
  readonly aud: string | null
  readonly most_attempts: number
  /** Whether a user who has no password must get one now. */
  readonly needs_password: boolean
  /** For a user who has none. */
  readonly new_hash: string | null
  /** Whether a change of address needs the other address too. */
  readonly is_double: boolean
  /** Null: the user gets the code of their PKCE flow instead. */
  readonly session: NewSession | null
  readonly audit: VerificationAudit
  /** Of the identity that a change of address may make. */
  readonly identity_id: string
}

export interface NewSession {
  readonly id: string
  readonly amr: readonly Amr[]
  readonly is_recovery: boolean
}

export interface VerificationAudit {
  readonly id: string
  /** What is written where this confirms the address for the first time, and where it does not. */
  readonly first: AuditPart | null
  readonly later: AuditPart | null
}

interface AuditPart {
  readonly action: string
  readonly log_type: string
}

/**
 * `whole`: all is done. `half`: the other address must confirm too. The rest say what is in the way,
 * and nothing was done.
 */
export type Verdict = 'whole' | 'half' | 'banned' | 'no flow' | 'no password'

/** With the columns of a `SessionRow` where `session_id` is not null. */
export interface VerdictRow extends Row {
  readonly verdict: Verdict
  readonly token_type: string
  /** Null where somebody else was faster. */
  readonly consumed_type: string | null
  readonly auth_code: string | null
  readonly session_id: string | null
}

interface Lookup {
  /** Tokens of those who may be meant. */
  readonly named: string
  /** Whether somebody could hit one by trying, so that what misses is counted. */
  readonly isGuess: string
  readonly isOwner: string
  readonly isRight: string
}

const lookups = {
  link: {
    named: "t.token_hash = decode(p.token_hash, 'hex') and t.is_pkce = p.is_pkce",
    isGuess: 'false',
    isOwner: 'true',
    isRight: "t.token_hash = decode(p.token_hash, 'hex')",
  },
  // Both sides are of a HMAC: how long it takes to compare them tells nothing.
  digits: {
    named: 't.relates_to = p.relates_to',
    isGuess: 'true',
    isOwner: 'u.aud = p.aud',
    isRight: "t.otp_hash = decode(p.otp_hash, 'hex') and t.attempts < p.most_attempts",
  },
} as const satisfies Record<string, Lookup>
export type LookupName = keyof typeof lookups

interface Effect {
  /** Of user `o` and `p`: whether this is but the first of two. */
  readonly isHalf: string
  /** Parts of a `with`, `identified` and `changed`, which follow from `consumed`. */
  readonly parts: string
}

const always = `raw_app_meta_data = u.raw_app_meta_data || v.app_meta_data, updated_at = p.now,
         last_sign_in_at =
           case when jsonb_typeof(p.session) = 'object' then p.now else u.last_sign_in_at end`

const effects = {
  confirm: {
    isHalf: 'false',
    parts: `identified as (
       update {ns}.identities i set updated_at = p.now,
         identity_data = i.identity_data || '{"email_verified": true}'
       from consumed c cross join p
       where i.user_id = c.user_id and i.provider = 'email'
         and not i.identity_data @> '{"email_verified": true}'
       returning i.*
     ), ${providersOf('identified')}, changed as (
       update {ns}.users u set email_confirmed_at = coalesce(u.email_confirmed_at, p.now),
         raw_user_meta_data = case when u.email_confirmed_at is null
           then u.raw_user_meta_data || '{"email_verified": true}' else u.raw_user_meta_data end,
         encrypted_password = coalesce(u.encrypted_password, p.new_hash),
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id
       returning u.*
     )`,
  },
  change: {
    isHalf: 'p.is_double and o.email is not null and o.email_change_confirm_status = 0',
    parts: `halved as (
       update {ns}.users u set email_change_confirm_status = 1, updated_at = p.now
       from consumed c cross join p
       where u.id = c.user_id and c.verdict = 'half'
     ), identified as (
       insert into {ns}.identities as i (id, user_id, provider, provider_id, identity_data,
         last_sign_in_at, created_at, updated_at)
       select p.identity_id, c.user_id, 'email', c.user_id, jsonb_build_object('sub', c.user_id,
         'email', c.email_change, 'email_verified', true, 'phone_verified', false),
         p.now, p.now, p.now
       from consumed c cross join p
       where c.verdict = 'whole'
       on conflict (provider, provider_id) do update set updated_at = excluded.updated_at,
         identity_data = i.identity_data || jsonb_build_object(
           'email', excluded.identity_data -> 'email', 'email_verified', true)
       returning i.*
     ), ${providersOf('identified')}, changed as (
       update {ns}.users u set email = u.email_change, email_change = null,
         email_change_sent_at = null, email_change_confirm_status = 0, is_anonymous = false,
         email_confirmed_at = coalesce(u.email_confirmed_at, p.now),
         raw_user_meta_data = case when u.raw_user_meta_data ? 'email'
           then u.raw_user_meta_data
             || jsonb_build_object('email', u.email_change, 'email_verified', true)
           else u.raw_user_meta_data end,
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id and c.verdict = 'whole'
       returning u.*
     )`,
  },
} as const satisfies Record<string, Effect>
export type EffectName = keyof typeof effects

/** `identities_now` and, as they belong into the metadata, the names of their providers. */
function providersOf(identified: string): string {
  return `identities_now as materialized (
       select * from ${identified}
       union all
       select i.* from {ns}.identities i join consumed c on c.user_id = i.user_id
       where not exists (select from ${identified} n where n.id = i.id)
     ), provided as materialized (
       select case when count(*) = 0 then '{}' else jsonb_build_object(
         'provider', (array_agg(n.provider order by n.since, n.provider))[1],
         'providers', jsonb_agg(n.provider order by n.since, n.provider)) end as app_meta_data
       from (select provider, min(created_at) as since from identities_now group by provider) n
     )`
}

/**
 * Uses up a one-time token, with all that follows: exactly one of many requests with it gets
 * anywhere. No row: there is no such token, it is over, or the digits are wrong, which is counted.
 * $1 a Verification.
 *
 * The user is locked first, and the tokens after: so do statements that send new ones. What another
 * has changed meanwhile is looked at once more where a row is written, and therefore tables that are
 * written to are joined with what is known and have no queries inside their conditions.
 */
function toStatement(how: LookupName, what: EffectName): Statement {
  const { named, isGuess, isOwner, isRight } = lookups[how]
  const { isHalf, parts } = effects[what]
  return statement(
    `${what}_by_${how}`,
    `with p as materialized (
       select * from jsonb_to_record($1::jsonb) as p(now timestamptz, ip text, user_agent text,
         methods jsonb, token_hash text, is_pkce boolean, otp_hash text, relates_to text, aud text,
         most_attempts integer, needs_password boolean, new_hash text, is_double boolean,
         session jsonb, audit jsonb, identity_id uuid)
     ), named as materialized (
       select distinct t.user_id from {ns}.one_time_tokens t cross join p where ${named}
     ), owner as materialized (
       select u.* from {ns}.users u join named n on n.user_id = u.id cross join p
       where ${isOwner} and u.deleted_at is null
       order by u.id
       for update of u
     ), judged as materialized (
       select o.id, o.email_confirmed_at, o.email_change, t.token_type, f.id as flow_id,
         case when o.banned_until > p.now then 'banned'
           when ${isHalf} then 'half'
           when jsonb_typeof(p.session) is distinct from 'object' and f.id is null then 'no flow'
           when p.needs_password and o.encrypted_password is null and not exists (
             select from {ns}.identities i
             where i.user_id = o.id and i.provider not in ('email', 'phone')
           ) then 'no password'
           else 'whole' end as verdict
       from owner o cross join p
         join {ns}.one_time_tokens t on t.user_id = o.id and ${named} and ${isRight}
         left join lateral (
           select f.id from {ns}.flow_states f
           where f.user_id = o.id and f.authentication_method = p.methods ->> t.token_type
           order by f.created_at desc limit 1
         ) f on true
       where p.methods ? t.token_type and t.expires_at >= p.now
         and t.relates_to = case t.token_type
           when 'email_change_new' then o.email_change else o.email end
       order by t.created_at desc limit 1
     ), missed as materialized (
       select o.id from owner o where ${isGuess} and not exists (select from judged)
     ), counted as (
       update {ns}.one_time_tokens t set attempts = t.attempts + 1
       from missed m cross join p
       where t.user_id = m.id and ${named} and p.methods ? t.token_type
         and t.attempts < p.most_attempts
     ), consumed as (
       delete from {ns}.one_time_tokens t using judged j cross join p
       where t.user_id = j.id and t.token_type = j.token_type and ${isRight}
         and t.expires_at >= p.now and j.verdict in ('whole', 'half')
       returning t.user_id, t.token_type, j.verdict, j.email_change, j.flow_id,
         j.email_confirmed_at is null as is_first
     ), cleared as (
       delete from {ns}.one_time_tokens t using consumed c
       where t.user_id = c.user_id and t.token_type <> c.token_type and c.verdict = 'whole'
     ), issued as (
       update {ns}.flow_states f set auth_code_issued_at = p.now
       from consumed c cross join p
       where f.id = c.flow_id and c.verdict = 'whole'
         and jsonb_typeof(p.session) is distinct from 'object'
       returning f.auth_code
     ), ${parts}, opened as (
       insert into {ns}.sessions
         (id, user_id, amr, user_agent, ip, is_recovery, created_at, updated_at)
       select (p.session ->> 'id')::uuid, u.id, p.session -> 'amr', p.user_agent, p.ip,
         (p.session ->> 'is_recovery')::boolean, p.now, p.now
       from changed u cross join p
       where jsonb_typeof(p.session) = 'object'
       returning *
     ), logged as (
       insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
       select (p.audit ->> 'id')::uuid, a.part || jsonb_build_object('actor_id', u.id,
         'actor_via_sso', u.is_sso_user, 'actor_username', coalesce(u.phone, u.email, ''),
         'traits', jsonb_build_object('provider', 'email')), p.ip, p.now
       from changed u cross join consumed c cross join p cross join lateral (
         select p.audit -> case when c.is_first then 'first' else 'later' end as part
       ) a
       where jsonb_typeof(a.part) = 'object'
     )
     select j.verdict, j.token_type, c.token_type as consumed_type, i.auth_code,
       ${selectUserWith('u', 'identities_now')},
       o.id as session_id, o.aal, o.amr, o.refresh_token_counter
     from judged j left join consumed c on true left join issued i on true
       left join changed u on true left join opened o on true`,
  )
}

export const verifications = {
  confirm: { link: toStatement('link', 'confirm'), digits: toStatement('digits', 'confirm') },
  change: { link: toStatement('link', 'change'), digits: toStatement('digits', 'change') },
} as const satisfies Record<EffectName, Record<LookupName, Statement>>
