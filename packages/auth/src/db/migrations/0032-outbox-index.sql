-- concurrently
create index concurrently if not exists outbox_due on {ns}.outbox (channel, priority, next_attempt_at, id)
  where failed_at is null;
drop index concurrently if exists {ns}.outbox_waiting;
