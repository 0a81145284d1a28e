import type { Row } from '../../../db/database.ts'
import { object, type Statement, statement } from '../../../db/statement.ts'
import type { Notice } from '../../../messages/statements/request-parts.ts'
import type { AuditPart } from '../../audit/audit.ts'
import { type Amr, selectSession } from '../../sessions/statements/sessions.ts'
import { selectUserWith } from '../../users/statements/user-row.ts'
import { type EffectName, effects, isUnclaimed, signsIn } from './verification-effects.ts'

/** An attempt to use a one-time token. */
export interface Verification {
  readonly now: Date
  readonly ip: string
  readonly user_agent: string
  /** The accepted token types, with the authentication method of each. */
  readonly methods: Readonly<Record<string, string>>
  /** The hash of a link's token, in hexadecimal. */
  readonly token_hash: string | null
  readonly is_pkce: boolean
  /** The possible hashes of the digits and the recipient, in hexadecimal; null for a link. */
  readonly otp_hashes: readonly string[] | null
  readonly relates_to: string | null
  readonly aud: string | null
  /** The hash of recipient and audience, in hexadecimal; null for a link. */
  readonly attempts_key: string | null
  readonly most_attempts: number
  /** Whether a user without a password must set one now. */
  readonly needs_password: boolean
  /** The password hash for a user without a password. */
  readonly new_hash: string | null
  /** Whether the request has a password, which then replaces one that is removed. */
  readonly offers_password: boolean
  /** A hash that no password matches, for a user whose password is removed without a replacement. */
  readonly void_hash: string
  /** Whether a change of address must also be confirmed by the other address. */
  readonly is_double: boolean
  /** Null when the user gets the code of their PKCE flow instead. */
  readonly session: NewSession | null
  readonly audit: VerificationAudit
  /** The ID of an identity that may have to be created. */
  readonly identity_id: string
  /** The notice of a change. The statement adds the old value and the recipient. */
  readonly notice: Omit<Notice, 'recipient'> | null
}

export interface NewSession {
  readonly id: string
  readonly amr: readonly Amr[]
  readonly is_recovery: boolean
  readonly tag: string | null
}

export interface VerificationAudit {
  readonly id: string
  /** The entry for the first confirmation of the address, and the entry for later ones. */
  readonly first: AuditPart | null
  readonly later: AuditPart | null
}

/**
 * `whole`: the verification is complete. `half`: the other address must confirm too. The others say
 * why nothing was written.
 */
export type Verdict = 'whole' | 'half' | 'banned' | 'no flow' | 'no password'

/** Has the columns of a `SessionRow` if `session_id` is not null. */
export interface VerdictRow extends Row {
  readonly verdict: Verdict
  /** The user whom the token belongs to. */
  readonly owner_id: string
  readonly token_type: string
  /** Null when a concurrent request used the token. */
  readonly consumed_type: string | null
  readonly auth_code: string | null
  readonly session_id: string | null
}

export type VerificationStatement = Statement<Verification, VerdictRow>

interface Lookup {
  /** A part that comes first in the `with`. */
  readonly before: string
  /** SQL condition that selects the token. */
  readonly named: string
  readonly isOwner: string
}

const lookups = {
  link: {
    before: '',
    named: "t.token_hash = decode(p.token_hash, 'hex') and t.is_pkce = p.is_pkce",
    isOwner: 'true',
  },
  digits: {
    // Codes can be guessed, so each attempt is counted before the code is checked, and concurrent
    // attempts wait for each other here. An address without an account costs the same time.
    before: `tried as (
       insert into {ns}.code_attempts as a (key, attempts, tried_at)
       select decode(p.attempts_key, 'hex'), 1, p.now from p
       on conflict (key) do update set tried_at = excluded.tried_at,
         attempts = case when a.tried_at < (
             select max(t.created_at) from {ns}.one_time_tokens t join p on t.relates_to = p.relates_to)
           then 1 else a.attempts + 1 end
       returning a.attempts
     ), `,
    // Both values are HMACs, so the timing of the comparison reveals nothing about the code.
    named: `t.relates_to = p.relates_to and encode(t.otp_hash, 'hex') = any(p.otp_hashes)
         and (select attempts from tried) <= p.most_attempts`,
    isOwner: 'u.aud = p.aud',
  },
} as const satisfies Record<string, Lookup>
export type LookupName = keyof typeof lookups

/**
 * Uses a one-time token and applies its effects. Of several concurrent requests with the same
 * token, exactly one succeeds. Returns no row when the token does not exist or has expired, or when
 * too many codes were tried.
 *
 * The user is locked first and the tokens after, in the same order as in statements that write new
 * tokens. When a concurrent transaction has changed a row, PostgreSQL checks the condition again,
 * but subqueries in it still see the old snapshot. Writes are therefore joined with the rows found
 * before, instead of selecting them in a subquery.
 */
function toStatement(how: LookupName, what: EffectName): VerificationStatement {
  const { before, named, isOwner } = lookups[how]
  const { provider, isFirst, isHalf, parts } = effects[what]
  return statement(
    `${what}_by_${how}`,
    object<Verification>(),
    `with p as materialized (
       select * from jsonb_to_record($1::jsonb) as p(now timestamptz, ip text, user_agent text,
         methods jsonb, token_hash text, is_pkce boolean, otp_hashes text[], relates_to text, aud text,
         attempts_key text,
         most_attempts integer, needs_password boolean, new_hash text,
         offers_password boolean, void_hash text, is_double boolean, session jsonb, audit jsonb,
         identity_id uuid, notice jsonb)
     ), ${before}named as materialized (
       select distinct t.user_id from {ns}.one_time_tokens t cross join p where ${named}
     ), ending as materialized (
       -- Locks sessions before the user, in the same order as a token refresh, to avoid deadlocks.
       select s.id, s.user_id from {ns}.sessions s join named n on n.user_id = s.user_id
         join {ns}.users u on u.id = n.user_id
       where s.revoked_at is null and u.email_confirmed_at is null and u.phone_confirmed_at is null
       order by s.id for update of s
     ), owner as materialized (
       select u.* from {ns}.users u join named n on n.user_id = u.id cross join p
       where ${isOwner} and u.deleted_at is null and (select count(*) from ending) >= 0
       order by u.id
       for update of u
     ), judged as materialized (
       select o.id, ${isFirst} as is_first, o.email, o.phone, o.email_change, o.phone_change,
         t.token_type, f.id as flow_id, t.claim, ${takesOver} as takes_over,
         ${claimedHash} as hash,
         case when o.banned_until > p.now then 'banned'
           when ${isHalf} then 'half'
           when jsonb_typeof(p.session) is distinct from 'object' and f.id is null then 'no flow'
           when p.needs_password and ${claimedHash} is null and (p.offers_password and ${takesOver}
             or o.encrypted_password is null and not exists (
               select from {ns}.identities i
               where i.user_id = o.id and i.provider not in ('email', 'phone')
             )) then 'no password'
           else 'whole' end as verdict
       from owner o cross join p
         join {ns}.one_time_tokens t on t.user_id = o.id and ${named}
         left join lateral (
           select f.id from {ns}.flow_states f
           where f.user_id = o.id and f.authentication_method = p.methods ->> t.token_type
           order by f.created_at desc limit 1
         ) f on true
       where p.methods ? t.token_type and t.expires_at >= p.now
         and t.relates_to = case t.token_type
           when 'email_change_new' then o.email_change when 'phone_confirmation' then o.phone
           when 'phone_change' then o.phone_change else o.email end
       order by t.created_at desc limit 1
     ), consumed as (
       delete from {ns}.one_time_tokens t using judged j cross join p
       where t.user_id = j.id and t.token_type = j.token_type and ${named}
         and t.expires_at >= p.now and j.verdict in ('whole', 'half')
       returning t.user_id, t.token_type, j.verdict, j.email, j.phone, j.email_change,
         j.phone_change, j.flow_id, j.is_first, j.claim, j.hash,
         j.takes_over and j.verdict = 'whole' as takes_over
     ), cleared as (
       delete from {ns}.one_time_tokens t using consumed c
       where t.user_id = c.user_id and t.token_type <> c.token_type and c.verdict = 'whole'
     ), issued as (
       update {ns}.flow_states f set auth_code_issued_at = p.now
       from consumed c cross join p
       where f.id = c.flow_id and c.verdict = 'whole'
         and jsonb_typeof(p.session) is distinct from 'object'
       returning f.auth_code
     ), ${removeUnclaimed(provider)}, ${parts}, opened as (
       insert into {ns}.sessions
         (id, user_id, amr, user_agent, ip, is_recovery, tag, created_at, updated_at)
       select (p.session ->> 'id')::uuid, u.id, p.session -> 'amr', p.user_agent, p.ip,
         (p.session ->> 'is_recovery')::boolean, p.session ->> 'tag', p.now, p.now
       from changed u cross join consumed c cross join p
       where ${signsIn}
       returning *
     ), logged as (
       insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
       select (p.audit ->> 'id')::uuid, a.part || jsonb_build_object('actor_id', u.id,
         'actor_via_sso', u.is_sso_user, 'actor_username', coalesce(u.phone, u.email, ''),
         'traits', jsonb_build_object('provider', '${provider}')), p.ip, p.now
       from changed u cross join consumed c cross join p cross join lateral (
         select p.audit -> case when c.is_first then 'first' else 'later' end as part
       ) a
       where jsonb_typeof(a.part) = 'object'
     )
     select j.verdict, j.id as owner_id, j.token_type, c.token_type as consumed_type, i.auth_code,
       ${selectUserWith('u', 'identities_now')},
       ${selectSession('o')}
     from judged j left join consumed c on true left join issued i on true
       left join changed u on true left join opened o on true`,
  ).returning<VerdictRow>()
}

/** SQL on token `t` and user `o`: whether this is the first proof of ownership of the account. */
const takesOver = `(t.claim is not null and o.email_confirmed_at is null
           and o.phone_confirmed_at is null)`

/**
 * The password hash of the account afterwards; null when there is none, or when the request sets
 * it.
 */
const claimedHash = `case when ${takesOver} then coalesce(t.claim ->> 'hash',
             case when o.admin_data @> '{"password": true}' then o.encrypted_password end)
           else o.encrypted_password end`

/**
 * Removes what someone else could have left in the account. Signing in with a provider does the
 * same.
 */
function removeUnclaimed(provider: 'email' | 'phone'): string {
  return `unclaimed_identities as (
       delete from {ns}.identities i using consumed c
       where c.takes_over and i.user_id = c.user_id and ${isUnclaimed('i', provider)}
     ), unclaimed_factors as (
       delete from {ns}.mfa_factors f using consumed c where c.takes_over and f.user_id = c.user_id
     ), unclaimed_passkeys as (
       delete from {ns}.webauthn_credentials k using consumed c
       where c.takes_over and k.user_id = c.user_id
     ), unclaimed_keys as (
       delete from {ns}.api_keys k using consumed c
       where c.takes_over and k.user_id = c.user_id
     ), unclaimed_consents as (
       delete from {ns}.oauth_consents g using consumed c
       where c.takes_over and g.user_id = c.user_id
     ), unclaimed_sessions as (
       update {ns}.sessions s set revoked_at = p.now, updated_at = p.now
       from consumed c cross join p cross join ending e
       where c.takes_over and e.user_id = c.user_id and s.id = e.id
     )`
}

export const verifications = {
  confirm: { link: toStatement('link', 'confirm'), digits: toStatement('digits', 'confirm') },
  change: { link: toStatement('link', 'change'), digits: toStatement('digits', 'change') },
  // Text messages contain no links.
  confirm_phone: { digits: toStatement('digits', 'confirm_phone') },
  change_phone: { digits: toStatement('digits', 'change_phone') },
} as const satisfies Record<EffectName, Partial<Record<LookupName, VerificationStatement>>>
