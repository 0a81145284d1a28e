-- concurrently
-- Messages to a user who is deleted are deleted as well. Those given up name nobody.
create index concurrently if not exists outbox_recipient on {ns}.outbox (recipient)
  where failed_at is null;
create index concurrently if not exists outbox_email on {ns}.outbox ((payload ->> 'Email'))
  where failed_at is null;
