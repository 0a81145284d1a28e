-- Apart from the triggers of sessions: a transaction that locks both tables could cause deadlocks with requests.
create function {ns}.revoke_user() returns trigger language plpgsql as $$
begin
  perform {ns}.revoke_tokens('user', old.id, clock_timestamp());
  return null;
end $$;

create constraint trigger revoke_banned after update on {ns}.users
  deferrable initially deferred for each row
  when (new.banned_until > now() and new.banned_until is distinct from old.banned_until
    or new.deleted_at is not null and old.deleted_at is null)
  execute function {ns}.revoke_user();

create constraint trigger revoke_deleted after delete on {ns}.users
  deferrable initially deferred for each row
  execute function {ns}.revoke_user();
