-- No token of a banned user is accepted until the ban ends, whenever it was issued: a sign-in that began before the ban
-- may issue a token after it. When a ban is lifted, a later row allows tokens that are issued from then on.
create or replace function {ns}.revoke_user() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or new.deleted_at is not null then
    perform {ns}.revoke_tokens('user', old.id, clock_timestamp());
  elsif new.banned_until > now() then
    perform {ns}.revoke_tokens('user', old.id, nullif(new.banned_until, 'infinity'));
  else
    -- Times in tokens are whole seconds.
    perform {ns}.revoke_tokens('user', old.id, clock_timestamp() - interval '1 second');
  end if;
  return null;
end $$;

create constraint trigger revoke_lifted after update on {ns}.users
  deferrable initially deferred for each row
  when (old.banned_until > now() and (new.banned_until is null or new.banned_until <= now()))
  execute function {ns}.revoke_user();
