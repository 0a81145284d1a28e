-- Programs that call APIs, and are not users.
create table {ns}.service_accounts (
  id uuid primary key,
  name text not null,
  -- The role in the tokens of its keys.
  role text not null,
  plan text,
  created_at timestamptz not null
);
create index service_accounts_created_at on {ns}.service_accounts (created_at, id);

-- A key that is revoked is deleted; the audit log has its history.
create table {ns}.api_keys (
  id uuid primary key,
  user_id uuid references {ns}.users (id) on delete cascade,
  service_account_id uuid references {ns}.service_accounts (id) on delete cascade,
  name text not null,
  -- The end of the secret, which its owner can recognise.
  hint text not null,
  -- SHA-256 of the secret, which has 256 random bits.
  secret_hash bytea not null,
  -- After a rotation, the previous secret is valid for some time.
  previous_hash bytea,
  previous_until timestamptz,
  scopes jsonb not null,
  plan text,
  expires_at timestamptz,
  last_used_at timestamptz,
  rotated_at timestamptz,
  created_at timestamptz not null,
  check ((user_id is null) <> (service_account_id is null)),
  check ((previous_hash is null) = (previous_until is null))
);
create index api_keys_user_id on {ns}.api_keys (user_id) where user_id is not null;
create index api_keys_service_account_id on {ns}.api_keys (service_account_id)
  where service_account_id is not null;
create index api_keys_created_at on {ns}.api_keys (created_at, id);

alter table {ns}.revocations drop constraint revocations_kind_check;
alter table {ns}.revocations add constraint revocations_kind_check
  check (kind in ('session', 'user', 'key', 'everyone'));

create function {ns}.revoke_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform {ns}.revoke_tokens('key', old.id, null);
  else
    -- The tokens of the previous secret.
    perform {ns}.revoke_tokens('key', old.id, new.rotated_at);
  end if;
  return null;
end $$;

create constraint trigger revoke_deleted after delete on {ns}.api_keys
  deferrable initially deferred for each row
  execute function {ns}.revoke_key();

create constraint trigger revoke_replaced after update on {ns}.api_keys
  deferrable initially deferred for each row
  when (new.secret_hash is distinct from old.secret_hash and new.previous_hash is null)
  execute function {ns}.revoke_key();
