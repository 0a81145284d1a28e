-- concurrently
-- Searches for an IP address. Refreshes are most of the entries, so they are not in it.
create index concurrently if not exists audit_log_entries_address on {ns}.audit_log_entries
  (ip_address, created_at)
  where (payload ->> 'log_type') is distinct from 'token';
