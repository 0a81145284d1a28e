-- Bookkeeping of "auth import", and the refresh tokens that another server issued.

-- One row per run.
create table {ns}.imports (
  id uuid primary key,
  -- host, database and schema, without a password
  source text not null,
  -- the last migration of the source
  source_version text not null,
  -- rows that changed before this time were not read
  since timestamptz,
  -- the time of the source's snapshot: a later run needs only rows that changed after it
  snapshot_at timestamptz not null,
  started_at timestamptz not null default now(),
  -- null while it runs, and if it was interrupted
  finished_at timestamptz,
  report jsonb
);

-- The imported rows as they were, so that a later run recognises what changed there and what changed here.
create table {ns}.imported_rows (
  table_name text not null,
  id uuid not null,
  source_hash bigint not null,
  -- of our row when it was imported; another value there now means that it was changed here
  updated_at timestamptz not null,
  primary key (table_name, id)
);

-- Keys of sessions whose refresh tokens another server signed with a key per session.
create table {ns}.imported_session_keys (
  session_id uuid primary key references {ns}.sessions on delete cascade,
  -- encrypted with a key that is derived from the server key refresh_tokens
  sealed_key bytea not null
);

-- Refresh tokens that another server stored, with their position among the tokens of the session.
create table {ns}.imported_refresh_tokens (
  -- SHA-256
  token_hash bytea primary key,
  session_id uuid not null references {ns}.sessions on delete cascade,
  counter integer not null
);
create index imported_refresh_tokens_session_id on {ns}.imported_refresh_tokens (session_id);
