import type { Row } from '../../../db/database.ts'
import { object, type Statement, statement } from '../../../db/statement.ts'
import type { Notice } from '../../../messages/statements/request-parts.ts'
import { type Amr, selectSession } from '../../sessions/statements/sessions.ts'
import { selectUserWith } from '../../users/statements/user-row.ts'
import { type EffectName, effects, isStrange, signsIn } from './verification-effects.ts'

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
  readonly otp_hashes: readonly string[] | null
  readonly relates_to: string | null
  readonly aud: string | null
  /** Of the recipient and the audience, in hexadecimal digits; null for a link. */
  readonly attempts_key: string | null
  readonly most_attempts: number
  /** Whether a user who has no password must get one now. */
  readonly needs_password: boolean
  /** For a user who has none. */
  readonly new_hash: string | null
  /** Whether one was sent: then it takes the place of one that ends. */
  readonly offers_password: boolean
  /** That of no password, for who has one that ends and gets no other. */
  readonly void_hash: string
  /** Whether a change of address needs the other address too. */
  readonly is_double: boolean
  /** Null: the user gets the code of their PKCE flow instead. */
  readonly session: NewSession | null
  readonly audit: VerificationAudit
  /** Of the identity that a change of address, or the end of others, may make. */
  readonly identity_id: string
  /** What the user is told of a change; the statement knows what was there before, and to whom. */
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

export type VerificationStatement = Statement<Verification, VerdictRow>

interface Lookup {
  /** A part of a `with` that comes first. */
  readonly before: string
  /** The token that is meant. */
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
    // Somebody could hit a code by trying: each try is counted before it is looked at, and so those
    // that come all at once wait here for each other. An address without an account costs the same.
    before: `tried as (
       insert into {ns}.code_attempts as a (key, attempts, tried_at)
       select decode(p.attempts_key, 'hex'), 1, p.now from p
       on conflict (key) do update set tried_at = excluded.tried_at,
         attempts = case when a.tried_at < (
             select max(t.created_at) from {ns}.one_time_tokens t join p on t.relates_to = p.relates_to)
           then 1 else a.attempts + 1 end
       returning a.attempts
     ), `,
    // Both sides are of a HMAC: how long it takes to compare them tells nothing.
    named: `t.relates_to = p.relates_to and encode(t.otp_hash, 'hex') = any(p.otp_hashes)
         and (select attempts from tried) <= p.most_attempts`,
    isOwner: 'u.aud = p.aud',
  },
} as const satisfies Record<string, Lookup>
export type LookupName = keyof typeof lookups

/**
 * Uses up a one-time token, with all that follows: exactly one of many requests with it gets
 * anywhere. No row: there is no such token, it is over, or too many codes were tried.
 *
 * The user is locked first, and the tokens after: so do statements that send new ones. What another
 * has changed meanwhile is looked at once more where a row is written, and therefore tables that are
 * written to are joined with what is known and have no queries inside their conditions.
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
       -- Before the user, as a refresh does: otherwise each could hold what the other waits for.
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
     ), ${endStrangers(provider)}, ${parts}, opened as (
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
     select j.verdict, j.token_type, c.token_type as consumed_type, i.auth_code,
       ${selectUserWith('u', 'identities_now')},
       ${selectSession('o')}
     from judged j left join consumed c on true left join issued i on true
       left join changed u on true left join opened o on true`,
  ).returning<VerdictRow>()
}

/** Of token `t` and user `o`: whether whoever shows it is the first to prove to own the account. */
const takesOver = `(t.claim is not null and o.email_confirmed_at is null
           and o.phone_confirmed_at is null)`

/** The password that the account has afterwards; null: none, or the one that the request brings. */
const claimedHash = `case when ${takesOver} then coalesce(t.claim ->> 'hash',
             case when o.admin_data @> '{"password": true}' then o.encrypted_password end)
           else o.encrypted_password end`

/** Removes what a stranger could have left in the account; a provider's proof does the same. */
function endStrangers(provider: 'email' | 'phone'): string {
  return `strange_identities as (
       delete from {ns}.identities i using consumed c
       where c.takes_over and i.user_id = c.user_id and ${isStrange('i', provider)}
     ), strange_factors as (
       delete from {ns}.mfa_factors f using consumed c where c.takes_over and f.user_id = c.user_id
     ), strange_passkeys as (
       delete from {ns}.webauthn_credentials k using consumed c
       where c.takes_over and k.user_id = c.user_id
     ), strange_sessions as (
       update {ns}.sessions s set revoked_at = p.now, updated_at = p.now
       from consumed c cross join p cross join ending e
       where c.takes_over and e.user_id = c.user_id and s.id = e.id
     )`
}

export const verifications = {
  confirm: { link: toStatement('link', 'confirm'), digits: toStatement('digits', 'confirm') },
  change: { link: toStatement('link', 'change'), digits: toStatement('digits', 'change') },
  // Text messages have no links.
  confirm_phone: { digits: toStatement('digits', 'confirm_phone') },
  change_phone: { digits: toStatement('digits', 'change_phone') },
} as const satisfies Record<EffectName, Partial<Record<LookupName, VerificationStatement>>>
