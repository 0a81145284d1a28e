-- {ns} is the schema (DB_NAMESPACE). Statements run in one transaction.

create table {ns}.users (
  id uuid primary key,
  aud text not null default '',
  role text not null default '',
  email text,
  encrypted_password text,
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  confirmation_sent_at timestamptz,
  recovery_sent_at timestamptz,
  email_change text,
  email_change_sent_at timestamptz,
  -- 1 once one of the two addresses has confirmed
  email_change_confirm_status smallint not null default 0,
  phone text,
  phone_confirmed_at timestamptz,
  phone_change text,
  phone_change_sent_at timestamptz,
  reauthentication_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb not null default '{}',
  raw_user_meta_data jsonb not null default '{}',
  is_sso_user boolean not null default false,
  is_anonymous boolean not null default false,
  banned_until timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index users_email on {ns}.users (email) where not is_sso_user;
create unique index users_phone on {ns}.users (phone);
create index users_created_at on {ns}.users (created_at, id);
create index users_anonymous on {ns}.users (created_at) where is_anonymous;

create table {ns}.identities (
  id uuid primary key,
  user_id uuid not null references {ns}.users on delete cascade,
  provider text not null,
  provider_id text not null,
  identity_data jsonb not null default '{}',
  email text generated always as (lower(identity_data ->> 'email')) stored,
  last_sign_in_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider, provider_id)
);
create index identities_user_id on {ns}.identities (user_id);
create index identities_email on {ns}.identities (email);

create table {ns}.sessions (
  id uuid primary key,
  user_id uuid not null references {ns}.users on delete cascade,
  aal text not null default 'aal1',
  -- how the user proved who they are: [{"method": "password", "timestamp": 1700000000}]
  amr jsonb not null default '[]',
  factor_id uuid,
  not_after timestamptz,
  refreshed_at timestamptz,
  user_agent text,
  ip text,
  tag text,
  -- of the refresh token that is valid now; the tokens themselves are stored nowhere
  refresh_token_counter integer not null default 0,
  rotated_at timestamptz,
  -- made by a recovery link: its owner has just proven to own the mailbox
  is_recovery boolean not null default false,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_user_id on {ns}.sessions (user_id, created_at);
create index sessions_revoked_at on {ns}.sessions (revoked_at) where revoked_at is not null;

create table {ns}.one_time_tokens (
  user_id uuid not null references {ns}.users on delete cascade,
  token_type text not null,
  -- SHA-256 of the token in the link; nobody who reads the table can use it
  token_hash bytea not null,
  -- HMAC of the digits
  otp_hash bytea not null,
  -- the address or number it was sent to
  relates_to text not null,
  is_pkce boolean not null default false,
  attempts smallint not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (user_id, token_type)
);
create unique index one_time_tokens_token_hash on {ns}.one_time_tokens (token_hash);
create index one_time_tokens_relates_to on {ns}.one_time_tokens (relates_to);

create table {ns}.flow_states (
  id uuid primary key,
  user_id uuid references {ns}.users on delete cascade,
  auth_code uuid not null unique,
  code_challenge text not null,
  code_challenge_method text not null,
  authentication_method text not null,
  provider_type text not null default '',
  provider_access_token text,
  provider_refresh_token text,
  referrer text,
  auth_code_issued_at timestamptz,
  created_at timestamptz not null default now()
);
create index flow_states_user_id on {ns}.flow_states (user_id, authentication_method, created_at);
create index flow_states_created_at on {ns}.flow_states (created_at);

-- Messages that are to leave. A row is written with what it belongs to, in one statement, and is
-- deleted once its message was sent.
create table {ns}.outbox (
  id bigint generated always as identity primary key,
  channel text not null,
  kind text not null,
  -- this and the payload are emptied when the message is given up
  recipient text not null,
  -- the variables of its template, a code and a link among them
  payload jsonb not null,
  attempts smallint not null default 0,
  -- while a process sends it: when others may take over
  next_attempt_at timestamptz not null default now(),
  -- when the code in it ends, and with it the use of sending it
  expires_at timestamptz not null,
  failed_at timestamptz,
  last_error text,
  created_at timestamptz not null default now()
);
create index outbox_waiting on {ns}.outbox (next_attempt_at) where failed_at is null;
create index outbox_failed_at on {ns}.outbox (failed_at) where failed_at is not null;

-- How many messages the whole server may still send; one row per channel.
create table {ns}.message_caps (
  channel text primary key,
  -- of a cap per hour
  window_start timestamptz not null default 'epoch',
  sent integer not null default 0,
  -- of a bucket
  tokens double precision not null default 0,
  refilled_at timestamptz not null default 'epoch'
);

create table {ns}.audit_log_entries (
  id uuid primary key,
  payload jsonb not null,
  ip_address text not null default '',
  created_at timestamptz not null default now()
);
create index audit_log_entries_created_at on {ns}.audit_log_entries (created_at desc, id);

-- Keys that all processes share, made by the first of them.
create table {ns}.server_keys (
  name text primary key,
  value bytea not null
);
