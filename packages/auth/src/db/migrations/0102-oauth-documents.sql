-- concurrently
-- Clients with a document that no user has granted anything to are deleted after some time.
create index concurrently if not exists oauth_clients_metadata_expires_at
  on {ns}.oauth_clients (metadata_expires_at) where metadata_expires_at is not null;
