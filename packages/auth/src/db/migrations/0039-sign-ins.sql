-- How many sign-ins succeeded and failed, in steps of ten seconds: a few rows for each step, however many
-- there are.
create table {ns}.sign_in_counts (
  step timestamptz not null,
  -- succeeded, or the reason of a failure
  outcome text not null,
  count bigint not null,
  primary key (step, outcome)
);

-- Sign-ins that failed. One row for all with the same name, reason and address within ten minutes, and only
-- the newest rows are kept: unauthenticated clients can make as many as they like.
create table {ns}.sign_in_failures (
  id uuid primary key,
  period timestamptz not null,
  aud text not null,
  -- the email address or phone number that was given; empty where there was none
  name text not null,
  reason text not null,
  ip_address text not null,
  -- null: there is no such account
  user_id uuid references {ns}.users on delete cascade,
  count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  unique (period, aud, name, reason, ip_address)
);
create index sign_in_failures_last_at on {ns}.sign_in_failures (last_at, id);
create index sign_in_failures_user on {ns}.sign_in_failures (user_id, last_at, id);

-- The groups of three digits of a phone number, by which the next migration makes its parts findable.
create function {ns}.phone_parts(phone text) returns text[]
language sql immutable strict parallel safe as $$
  select coalesce(array_agg(distinct substr(phone, n, 3)), '{}')
  from generate_series(1, length(phone) - 2) n
$$;
