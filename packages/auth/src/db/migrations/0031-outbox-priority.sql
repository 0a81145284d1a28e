-- New one-time codes are sent before everything else that is due.
alter table {ns}.outbox
  -- 0: a code that nobody has tried to send yet; 1: everything else
  add column priority smallint not null default 0;

-- Rows that are updated by sign-ins and refreshes leave room in their page for the new version, which
-- then needs no new index entries. Pages that are written from now on have it.
alter table {ns}.users set (fillfactor = 90);
alter table {ns}.sessions set (fillfactor = 90);
