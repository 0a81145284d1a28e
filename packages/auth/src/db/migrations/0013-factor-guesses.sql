-- Wrong codes of second factors are counted by session first, so that nobody who has only the password
-- locks the owner out.
alter table {ns}.sessions
  -- by factor: {"<id>": {"failed": 3, "locked_until": null}}
  add column factor_failures jsonb not null default '{}';

-- The sum of all sessions, which goes down by itself: from networks that the factor was shown from, and from
-- all others. failed_attempts and locked_until are not used any more; processes of earlier versions that
-- still run need them.
alter table {ns}.mfa_factors
  add column known_failures double precision not null default 0,
  add column known_failed_at timestamptz,
  add column unknown_failures double precision not null default 0,
  add column unknown_failed_at timestamptz,
  -- networks from which a right code came, the latest first
  add column used_from text[] not null default '{}';

update {ns}.mfa_factors f set used_from = known.addresses
from (
  select s.factor_id, array_agg(distinct s.ip) as addresses from {ns}.sessions s
  where s.factor_id is not null and s.revoked_at is null and s.ip ~ '^[0-9.]+$'
  group by s.factor_id
) known
where f.id = known.factor_id;
