-- What access tokens must no longer be accepted, for servers that verify tokens themselves.
-- Triggers write the rows, so that changes by other programs and earlier releases count as well.
create table {ns}.revocations (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('session', 'user', 'everyone')),
  subject uuid check ((subject is null) = (kind = 'everyone')),
  -- Null: every token of the subject. Otherwise tokens of a user that were issued until then, or
  -- of all sessions that were opened until then.
  until timestamptz,
  revoked_at timestamptz not null
);
create index revocations_revoked_at on {ns}.revocations (revoked_at);

-- Readers ask for rows after the last ID that they know. The lock makes transactions commit in the
-- order of their IDs: otherwise a reader could miss a row that commits after one with a higher ID.
-- It is the last lock that a transaction takes, because the triggers are deferred, so it does not
-- cause deadlocks.
create function {ns}.revoke_tokens(kind text, subject uuid, until timestamptz)
returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('revocations of {ns}', 0));
  insert into {ns}.revocations (kind, subject, until, revoked_at)
  values (kind, subject, until, clock_timestamp());
  notify portcullis_revocations;
end $$;

create function {ns}.revoke_session() returns trigger language plpgsql as $$
begin
  perform {ns}.revoke_tokens('session', old.id, null);
  return null;
end $$;

-- A statement that ends the sessions of all users records one row for all of them, and sets
-- portcullis.revocations to `together`.
create constraint trigger revoke_ended after update on {ns}.sessions
  deferrable initially deferred for each row
  when (old.revoked_at is null and new.revoked_at is not null
    and current_setting('portcullis.revocations', true) is distinct from 'together')
  execute function {ns}.revoke_session();

create constraint trigger revoke_deleted after delete on {ns}.sessions
  deferrable initially deferred for each row
  when (old.revoked_at is null)
  execute function {ns}.revoke_session();
