-- No statement finds an entry by its id alone. Ids are random, so the index on them was the most expensive
-- one to write.
alter table {ns}.audit_log_entries
  drop constraint audit_log_entries_pkey,
  add constraint audit_log_entries_pkey primary key using index audit_log_entries_time;
