-- concurrently
-- The order of pages, and the primary key from the next migration on: an entry is found by its time, and
-- keys that grow are written to the end of their index.
create unique index concurrently if not exists audit_log_entries_time
  on {ns}.audit_log_entries (created_at, id);
-- Whom an entry is about: pages of one user, and what is made anonymous when a user is deleted.
create index concurrently if not exists audit_log_entries_user on {ns}.audit_log_entries
  ((coalesce(payload #>> '{traits,user_id}', payload ->> 'actor_id')::uuid), created_at);
-- Searches for types and actions. Refreshes are most of the entries, so they are not in it.
create index concurrently if not exists audit_log_entries_action on {ns}.audit_log_entries
  ((payload ->> 'log_type'), (payload ->> 'action'), created_at)
  where (payload ->> 'log_type') is distinct from 'token';
drop index concurrently if exists {ns}.audit_log_entries_subject;
drop index concurrently if exists {ns}.audit_log_entries_created_at;
