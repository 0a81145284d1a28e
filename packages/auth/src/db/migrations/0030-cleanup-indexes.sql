-- concurrently
-- What cleanup deletes is found by an index, so that a round with nothing to delete reads a few pages.
create index concurrently if not exists sessions_not_after on {ns}.sessions (not_after)
  where not_after is not null;
create index concurrently if not exists one_time_tokens_expires_at on {ns}.one_time_tokens (expires_at);
-- No statement reads it.
drop index concurrently if exists {ns}.users_anonymous;
