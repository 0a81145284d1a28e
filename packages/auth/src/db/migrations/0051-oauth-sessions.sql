-- concurrently
-- The sessions of a client, or of a client and a user, which end together.
create index concurrently if not exists sessions_oauth_client on {ns}.sessions (oauth_client_id, user_id)
  where oauth_client_id is not null;
