-- Whom an entry is about: whoever acted, or the user an administrator acted on. When a user is
-- deleted, the log must no longer tell who that was.
create index audit_log_entries_subject on {ns}.audit_log_entries
  ((coalesce(payload #>> '{traits,user_id}', payload ->> 'actor_id')::uuid));
