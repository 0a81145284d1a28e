import {
  column,
  createdAt,
  hasInvalidSecret,
  hasNoClient,
  hasNoUser,
  type ImportTable,
  recent,
  same,
  updatedAt,
} from './import-table.ts'

const table = 'sessions'

/** The names of second factors in `mfa_amr_claims`. */
const secondFactors = `'totp', 'mfa/phone', 'mfa/webauthn'`

/** The source stores this time without a time zone, in UTC. */
const refreshedAt = `x.refreshed_at at time zone 'UTC'`

/**
 * The positions of stored tokens in the sequence of a session's tokens. The client has the valid
 * token, or its parent if it did not receive the valid one. Any older token ends the session.
 */
const counters = { valid: 1, parent: 0, older: -1 } as const

/**
 * The positions of stored tokens in a session that has continued with signed tokens, whose counters
 * start at 0.
 */
const countersBeforeSigned = { parent: -1, older: -2 } as const

export const sessions: ImportTable = {
  name: table,
  label: 'sessions',
  columns: [
    same('user_id', 'uuid'),
    column('aal', 'text', `case when x.aal::text in ('aal2', 'aal3') then 'aal2' else 'aal1' end`),
    column(
      'amr',
      'jsonb',
      `coalesce((select jsonb_agg(jsonb_build_object('method', a.authentication_method,
         'timestamp', floor(extract(epoch from a.updated_at))::bigint) order by a.updated_at desc)
       from {supabase}.mfa_amr_claims a where a.session_id = x.id), '[]')`,
    ),
    {
      ...same('factor_id', 'uuid'),
      to: `(select f.id from {ns}.mfa_factors f where f.id = s.factor_id)`,
    },
    same('not_after', 'timestamptz'),
    column('refreshed_at', 'timestamptz', refreshedAt),
    same('user_agent', 'text'),
    column('ip', 'text', 'host(x.ip)'),
    same('tag', 'text'),
    {
      ...recent(table, 'refresh_token_counter', 'bigint'),
      to: `case when s.refresh_token_hmac_key is null then ${counters.valid}
        else s.refresh_token_counter end`,
    },
    column('rotated_at', 'timestamptz', refreshedAt),
    createdAt,
    updatedAt,
    { ...recent(table, 'refresh_token_hmac_key', 'text'), isStagedOnly: true },
    recent(table, 'oauth_client_id', 'uuid'),
    {
      ...recent(table, 'scopes', 'text'),
      name: 'oauth_grant',
      to: `case when s.oauth_client_id is not null then jsonb_build_object(
        'client_id', s.oauth_client_id, 'scope', coalesce(trim(s.oauth_grant), ''), 'resource', '')
        end`,
    },
    {
      ...column(
        'has_valid_token',
        'boolean',
        `exists (select from {supabase}.refresh_tokens r where r.session_id = x.id and r.revoked is not true)`,
      ),
      isStagedOnly: true,
    },
    // This makes tokens part of the hash of the row, because rotating a stored token does not change
    // the row of the session.
    {
      ...column(
        'token_state',
        'bigint',
        `(select hashtextextended(string_agg(r.id || ':' || (r.revoked is true), ',' order by r.id), 0)
         from {supabase}.refresh_tokens r where r.session_id = x.id)`,
      ),
      isStagedOnly: true,
    },
    {
      ...column(
        'verified_at',
        'timestamptz',
        `(select min(a.created_at) from {supabase}.mfa_amr_claims a
         where a.session_id = x.id and a.authentication_method in (${secondFactors}))`,
      ),
      isStagedOnly: true,
    },
  ],
  // The subqueries do not depend on the row, so each runs once, however many sessions there are.
  isChangedSince: (time) =>
    `(x.updated_at >= ${time} or ${refreshedAt} >= ${time}
      or x.id in (select a.session_id from {supabase}.mfa_amr_claims a where a.updated_at >= ${time})
      or x.id in (select r.session_id from {supabase}.refresh_tokens r
        where r.updated_at >= ${time} and r.session_id is not null))`,
  skipRules: [
    [hasNoUser, 'no user'],
    ['s.not_after < now()', 'expired'],
    [`s.oauth_client_id is not null and ${hasNoClient('oauth_client_id')}`, 'no client'],
    ['s.refresh_token_hmac_key is null and not s.has_valid_token', 'no token'],
    [
      `s.refresh_token_hmac_key is not null and (s.refresh_token_counter is null
        or s.refresh_token_counter not between 0 and 2147483646
        or ${hasInvalidSecret})`,
      'invalid secret',
    ],
  ],
}

/** Selects the stored tokens of a range of sessions. Only their hashes leave the source. */
export const selectTokens = (first: string, last: string): string =>
  `select r.id, r.session_id, sha256(convert_to(r.token, 'UTF8')),
     sha256(convert_to(nullif(r.parent, ''), 'UTF8')), coalesce(r.revoked, false), r.created_at
   from {supabase}.refresh_tokens r
   where r.session_id >= ${first} and r.session_id <= ${last} and r.token is not null`

export const copyIntoTokens = 'copy pg_temp.import_tokens from stdin'

export const createTokenStage = `create temp table import_tokens (
  id bigint, session_id uuid, token_hash bytea, parent_hash bytea, revoked boolean,
  created_at timestamptz
) on commit delete rows`

export const writeSessionKeys = `
  insert into {ns}.imported_session_keys (session_id, sealed_key)
  select c.id, c.sealed from pg_temp.import_secrets c join pg_temp.import_outcomes o on o.id = c.id
  where o.outcome in ('new', 'changed') and c.sealed is not null
  on conflict (session_id) do update set sealed_key = excluded.sealed_key`

export const deleteTokens = `
  delete from {ns}.imported_refresh_tokens t using pg_temp.import_outcomes o
  where t.session_id = o.id and o.outcome = 'changed'`

/**
 * A token that was issued before the second factor was verified counts as an older one, because it
 * must not give access to the verified session. The source writes the token and the time of the
 * verification a moment apart, hence the second of tolerance.
 */
export const writeTokens = `
  with valid_children as (
    select distinct session_id, parent_hash from pg_temp.import_tokens
    where not revoked and parent_hash is not null
  ), ranked as (
    select t.token_hash, t.session_id, case
      when s.refresh_token_hmac_key is not null then case
        -- The newest stored token was exchanged for the first signed one; it and its parent are accepted.
        when t.id >= max(coalesce(p.id, t.id)) over (partition by t.session_id)
          then ${countersBeforeSigned.parent} else ${countersBeforeSigned.older} end
      when not t.revoked then ${counters.valid}
      when c.session_id is not null and (s.verified_at is null
        or t.created_at >= s.verified_at - interval '1 second') then ${counters.parent}
      else ${counters.older} end as counter
    from pg_temp.import_tokens t
    join pg_temp.import_outcomes o on o.id = t.session_id and o.outcome in ('new', 'changed')
    join pg_temp.import_sessions s on s.id = t.session_id
    left join pg_temp.import_tokens p
      on p.session_id = t.session_id and p.token_hash = t.parent_hash
    left join valid_children c on c.session_id = t.session_id and c.parent_hash = t.token_hash
  )
  insert into {ns}.imported_refresh_tokens (token_hash, session_id, counter)
  select token_hash, session_id, counter from ranked
  on conflict (token_hash) do update
    set session_id = excluded.session_id, counter = excluded.counter`
