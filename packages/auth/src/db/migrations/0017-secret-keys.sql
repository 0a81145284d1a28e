-- Versions of the keys that all processes share, so that each can be replaced without ending what was
-- made with the one before; encrypted where AUTH_SECRETS_KEY is set.
create table {ns}.secret_keys (
  name text not null,
  version integer not null,
  -- 32 bytes; or, where wrapped_with is set, AES-256-GCM of them: nonce, tag, text
  value bytea not null,
  -- fingerprint of the key in AUTH_SECRETS_KEY that it is encrypted with
  wrapped_with text,
  -- from then on it is used for new secrets: every process has read it before
  active_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (name, version)
);
insert into {ns}.secret_keys (name, version, value) select name, 1, value from {ns}.server_keys;

-- server_keys is for servers of the version before, as long as nothing is encrypted. They would make
-- keys of their own where they find none.
create function {ns}.refuse_plain_keys() returns trigger language plpgsql as $$
begin
  if exists (select from {ns}.secret_keys where wrapped_with is not null) then
    raise exception 'The keys of this database are encrypted with AUTH_SECRETS_KEY, which this version of the server does not know'
      using hint = 'Start a newer version, or run "auth keys unwrap" with it.';
  end if;
  return new;
end
$$;
create trigger refuse_plain_keys before insert on {ns}.server_keys
  for each row execute function {ns}.refuse_plain_keys();

alter table {ns}.mfa_recovery_codes
  -- tells which version of the key its hash was made with
  add column created_at timestamptz not null default now();
