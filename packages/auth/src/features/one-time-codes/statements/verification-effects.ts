import { completeNotice } from '../../../messages/statements/request-parts.ts'

/** What a correct one-time token changes. */
interface Effect {
  /** The provider of the identity that it verifies. */
  readonly provider: 'email' | 'phone'
  /** SQL on user `o`: whether the address, or the phone number, was not confirmed before. */
  readonly isFirst: string
  /** SQL on user `o` and `p`: whether this is only the first of two confirmations. */
  readonly isHalf: string
  /** The parts `identified` and `changed` of a `with`, which depend on `consumed`. */
  readonly parts: string
}

/**
 * SQL on `consumed c` and `p`: whether the token opens a session, if one is requested. A link to
 * the new address of an account does not. Otherwise the owner of an account could have such a link
 * sent to another person, who would then use that account without noticing.
 * (Digits are typed in by the user who requested them.)
 */
export const signsIn = `(jsonb_typeof(p.session) = 'object'
           and (c.token_type <> 'email_change_new' or p.otp_hashes is not null))`

const always = `raw_app_meta_data = u.raw_app_meta_data || v.app_meta_data, updated_at = p.now,
         last_sign_in_at = case when ${signsIn} then p.now else u.last_sign_in_at end`

/** The first confirmation replaces a password that may have been set by someone else. */
const password = `encrypted_password = coalesce(
           case when c.takes_over then c.hash else u.encrypted_password end, p.new_hash,
           case when c.takes_over and u.encrypted_password is not null then p.void_hash end),
         admin_data = null`

const noticeSource = 'changed u join owner o on o.id = u.id cross join p'
const emailNoticeData = "jsonb_build_object('Email', u.email, 'OldEmail', o.email)"
const phoneNoticeData = `jsonb_build_object('Email', u.email, 'Phone', u.phone,
         'OldPhone', coalesce(o.phone, ''))`

const byEmail = { provider: 'email', isFirst: 'o.email_confirmed_at is null' } as const
const byPhone = { provider: 'phone', isFirst: 'o.phone_confirmed_at is null' } as const

export const effects = {
  confirm: {
    ...byEmail,
    isHalf: 'false',
    parts: `${verifyIdentity('email')}, ${providersOf('identified', 'email')}, changed as (
       update {ns}.users u set email_confirmed_at = coalesce(u.email_confirmed_at, p.now),
         raw_user_meta_data = case when c.takes_over then ${claimedMetadata('email', 'c.email')}
           when u.email_confirmed_at is null
           then u.raw_user_meta_data || '{"email_verified": true}' else u.raw_user_meta_data end,
         ${password},
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id
       returning u.*
     )`,
  },
  change: {
    ...byEmail,
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
         identity_data = case when (select takes_over from consumed) then excluded.identity_data
           else i.identity_data || jsonb_build_object(
             'email', excluded.identity_data -> 'email', 'email_verified', true) end
       returning i.*
     ), ${providersOf('identified', 'email')}, changed as (
       update {ns}.users u set email = u.email_change, email_change = null,
         email_change_sent_at = null, email_change_confirm_status = 0, is_anonymous = false,
         email_confirmed_at = coalesce(u.email_confirmed_at, p.now),
         raw_user_meta_data = case when c.takes_over
           then ${claimedMetadata('email', 'c.email_change')} else ${copyProven('email')}
             || case when u.email_confirmed_at is null then '{"email_verified": true}'::jsonb
               else '{}' end end,
         ${password},
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id and c.verdict = 'whole'
       returning u.*
     ), ${completeNotice('o.email', emailNoticeData, noticeSource)}`,
  },
  confirm_phone: {
    ...byPhone,
    isHalf: 'false',
    parts: `${verifyIdentity('phone')}, ${providersOf('identified', 'phone')}, changed as (
       update {ns}.users u set phone_confirmed_at = coalesce(u.phone_confirmed_at, p.now),
         raw_user_meta_data = case when c.takes_over then ${claimedMetadata('phone', 'c.phone')}
           when u.phone_confirmed_at is null
           then u.raw_user_meta_data || '{"phone_verified": true}' else u.raw_user_meta_data end,
         is_anonymous = false,
         ${password},
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id
       returning u.*
     )`,
  },
  change_phone: {
    ...byPhone,
    isHalf: 'false',
    parts: `identified as (
       insert into {ns}.identities as i (id, user_id, provider, provider_id, identity_data,
         last_sign_in_at, created_at, updated_at)
       select p.identity_id, c.user_id, 'phone', c.user_id, jsonb_build_object('sub', c.user_id,
         'phone', c.phone_change, 'phone_verified', true, 'email_verified', false),
         p.now, p.now, p.now
       from consumed c cross join p
       on conflict (provider, provider_id) do update set updated_at = excluded.updated_at,
         identity_data = i.identity_data || jsonb_build_object(
           'phone', excluded.identity_data -> 'phone', 'phone_verified', true)
       returning i.*
     ), ${providersOf('identified', 'phone')}, changed as (
       update {ns}.users u set phone = u.phone_change, phone_change = null,
         phone_change_sent_at = null, is_anonymous = false, phone_confirmed_at = p.now,
         raw_user_meta_data = ${copyProven('phone')},
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id
       returning u.*
     ), ${completeNotice('u.email', phoneNoticeData, noticeSource)}`,
  },
} as const satisfies Record<string, Effect>
export type EffectName = keyof typeof effects

/** Updates the fields that the sign-up copied from the identity into the metadata. */
function copyProven(provider: Effect['provider']): string {
  return `u.raw_user_meta_data || coalesce((
           select jsonb_object_agg(key, value) from jsonb_each(jsonb_build_object(
             '${provider}', u.${provider}_change, '${provider}_verified', true))
           where u.raw_user_meta_data ? key), '{}')`
}

/** SQL on user `u` and `consumed c`: the metadata after the first confirmation of an account. */
function claimedMetadata(provider: Effect['provider'], name: string): string {
  return `coalesce(c.claim -> 'data',
             case when u.admin_data is null then ${provenFields(provider, name)} else '{}' end)
           || coalesce(u.admin_data -> 'user_metadata', '{}') || '{"${provider}_verified": true}'`
}

/** The identity data of a verified address or phone number. */
function provenFields(provider: Effect['provider'], name: string): string {
  const other = provider === 'email' ? 'phone' : 'email'
  return `jsonb_build_object('sub', c.user_id, '${provider}', ${name},
         '${provider}_verified', true, '${other}_verified', false)`
}

/**
 * SQL on `consumed c`: whether an identity is neither the one that is confirmed nor the one that the
 * token's request named.
 */
export function isUnclaimed(identity: string, provider: Effect['provider']): string {
  return `${identity}.provider <> '${provider}'
         and ${identity}.id is distinct from (c.claim ->> 'identity_id')::uuid`
}

/** Verifies the identity, or creates it if all other identities are removed. */
function verifyIdentity(provider: Effect['provider']): string {
  const fields = provenFields(provider, `c.${provider}`)
  return `verified as (
       update {ns}.identities i set updated_at = p.now,
         identity_data = case when c.takes_over then coalesce(c.claim -> 'data', '{}') || ${fields}
           else i.identity_data || '{"${provider}_verified": true}' end
       from consumed c cross join p
       where i.user_id = c.user_id and i.provider = '${provider}'
         and (c.takes_over or not i.identity_data @> '{"${provider}_verified": true}')
       returning i.*
     ), made as (
       insert into {ns}.identities as i (id, user_id, provider, provider_id, identity_data,
         last_sign_in_at, created_at, updated_at)
       select p.identity_id, c.user_id, '${provider}', c.user_id, ${fields}, p.now, p.now, p.now
       from consumed c cross join p
       where c.takes_over and not exists (select from {ns}.identities i
         where i.user_id = c.user_id and not (${isUnclaimed('i', provider)}))
       returning i.*
     ), identified as materialized (
       select * from verified union all select * from made
     )`
}

/**
 * The parts `identities_now` and `provided`, which has the names of their providers for the
 * metadata.
 */
function providersOf(identified: string, provider: Effect['provider']): string {
  return `identities_now as materialized (
       select * from ${identified}
       union all
       select i.* from {ns}.identities i join consumed c on c.user_id = i.user_id
       where not exists (select from ${identified} n where n.id = i.id)
         and not (c.takes_over and ${isUnclaimed('i', provider)})
     ), provided as materialized (
       select case when count(*) = 0 then '{}' else jsonb_build_object(
         'provider', (array_agg(n.provider order by n.since, n.provider))[1],
         'providers', jsonb_agg(n.provider order by n.since, n.provider)) end as app_meta_data
       from (select provider, min(created_at) as since from identities_now group by provider) n
     )`
}
