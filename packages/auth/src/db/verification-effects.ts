import { completeNotice } from './notices.ts'

/** What follows from a one-time token that was right. */
interface Effect {
  /** The identity it proves. */
  readonly provider: 'email' | 'phone'
  /** Of user `o`: whether nothing of that kind was confirmed before. */
  readonly isFirst: string
  /** Of user `o` and `p`: whether this is but the first of two. */
  readonly isHalf: string
  /** Parts of a `with`, `identified` and `changed`, which follow from `consumed`. */
  readonly parts: string
}

const always = `raw_app_meta_data = u.raw_app_meta_data || v.app_meta_data, updated_at = p.now,
         last_sign_in_at =
           case when jsonb_typeof(p.session) = 'object' then p.now else u.last_sign_in_at end`

/** A password that may be a stranger's ends. */
const password = `encrypted_password = case
           when c.voids then coalesce(p.new_hash,
             case when u.encrypted_password is not null then p.void_hash end)
           else coalesce(u.encrypted_password, p.new_hash) end`

const toldOf = 'changed u join owner o on o.id = u.id cross join p'
const toldOfEmail = "jsonb_build_object('Email', u.email, 'OldEmail', o.email)"
const toldOfPhone = `jsonb_build_object('Email', u.email, 'Phone', u.phone,
         'OldPhone', coalesce(o.phone, ''))`

const byEmail = { provider: 'email', isFirst: 'o.email_confirmed_at is null' } as const
const byPhone = { provider: 'phone', isFirst: 'o.phone_confirmed_at is null' } as const

export const effects = {
  confirm: {
    ...byEmail,
    isHalf: 'false',
    parts: `${verifyIdentity('email')}, ${providersOf('identified', 'email')}, changed as (
       update {ns}.users u set email_confirmed_at = coalesce(u.email_confirmed_at, p.now),
         raw_user_meta_data = case when u.email_confirmed_at is null
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
         identity_data = i.identity_data || jsonb_build_object(
           'email', excluded.identity_data -> 'email', 'email_verified', true)
       returning i.*
     ), ${providersOf('identified', 'email')}, changed as (
       update {ns}.users u set email = u.email_change, email_change = null,
         email_change_sent_at = null, email_change_confirm_status = 0, is_anonymous = false,
         email_confirmed_at = coalesce(u.email_confirmed_at, p.now),
         ${copyProven('email')},
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id and c.verdict = 'whole'
       returning u.*
     ), ${completeNotice('o.email', toldOfEmail, toldOf)}`,
  },
  confirm_phone: {
    ...byPhone,
    isHalf: 'false',
    parts: `${verifyIdentity('phone')}, ${providersOf('identified', 'phone')}, changed as (
       update {ns}.users u set phone_confirmed_at = coalesce(u.phone_confirmed_at, p.now),
         raw_user_meta_data = case when u.phone_confirmed_at is null
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
         ${copyProven('phone')},
         ${always}
       from consumed c cross join p cross join provided v
       where u.id = c.user_id
       returning u.*
     ), ${completeNotice('u.email', toldOfPhone, toldOf)}`,
  },
} as const satisfies Record<string, Effect>
export type EffectName = keyof typeof effects

/** What the metadata has of an identity from the sign-up, it has of the new address or number. */
function copyProven(provider: Effect['provider']): string {
  return `raw_user_meta_data = u.raw_user_meta_data || coalesce((
           select jsonb_object_agg(key, value) from jsonb_each(jsonb_build_object(
             '${provider}', u.${provider}_change, '${provider}_verified', true))
           where u.raw_user_meta_data ? key), '{}')`
}

/** The identity that was proven. Where those of strangers end there must be one. */
function verifyIdentity(provider: Effect['provider']): string {
  const other = provider === 'email' ? 'phone' : 'email'
  return `verified as (
       update {ns}.identities i set updated_at = p.now,
         identity_data = i.identity_data || '{"${provider}_verified": true}'
       from consumed c cross join p
       where i.user_id = c.user_id and i.provider = '${provider}'
         and not i.identity_data @> '{"${provider}_verified": true}'
       returning i.*
     ), made as (
       insert into {ns}.identities as i (id, user_id, provider, provider_id, identity_data,
         last_sign_in_at, created_at, updated_at)
       select p.identity_id, c.user_id, '${provider}', c.user_id, jsonb_build_object(
         'sub', c.user_id, '${provider}', c.${provider}, '${provider}_verified', true,
         '${other}_verified', false), p.now, p.now, p.now
       from consumed c cross join p
       where c.voids and not exists (select from {ns}.identities i
         where i.user_id = c.user_id and i.provider = '${provider}')
       returning i.*
     ), identified as materialized (
       select * from verified union all select * from made
     )`
}

/** `identities_now` and, as they belong into the metadata, the names of their providers. */
function providersOf(identified: string, provider: Effect['provider']): string {
  return `identities_now as materialized (
       select * from ${identified}
       union all
       select i.* from {ns}.identities i join consumed c on c.user_id = i.user_id
       where not exists (select from ${identified} n where n.id = i.id)
         and not (c.voids and i.provider <> '${provider}')
     ), provided as materialized (
       select case when count(*) = 0 then '{}' else jsonb_build_object(
         'provider', (array_agg(n.provider order by n.since, n.provider))[1],
         'providers', jsonb_agg(n.provider order by n.since, n.provider)) end as app_meta_data
       from (select provider, min(created_at) as since from identities_now group by provider) n
     )`
}
