-- The tokens of a secret have an ID that is derived from its hash, as session_id. When a secret is replaced without an
-- overlap, or a second rotation ends an overlap early, its tokens are revoked by this ID. Times would not be exact: a
-- token may be issued while the rotation waits for its lock.
create function {ns}.secret_id(hash bytea) returns uuid language sql immutable as $$
  select encode(substring(sha256(hash) from 1 for 16), 'hex')::uuid
$$;

create or replace function {ns}.revoke_key() returns trigger language plpgsql as $$
declare
  hash bytea;
begin
  if tg_op = 'DELETE' then
    perform {ns}.revoke_tokens('key', old.id, null);
    return null;
  end if;
  foreach hash in array array[old.secret_hash, old.previous_hash] loop
    if hash is not null and hash is distinct from new.secret_hash
      and hash is distinct from new.previous_hash then
      perform {ns}.revoke_tokens('session', {ns}.secret_id(hash), null);
    end if;
  end loop;
  return null;
end $$;

drop trigger revoke_replaced on {ns}.api_keys;
create constraint trigger revoke_replaced after update on {ns}.api_keys
  deferrable initially deferred for each row
  when (new.secret_hash is distinct from old.secret_hash
    or new.previous_hash is distinct from old.previous_hash)
  execute function {ns}.revoke_key();
