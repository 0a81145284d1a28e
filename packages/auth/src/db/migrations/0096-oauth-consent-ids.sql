-- concurrently
create unique index concurrently if not exists oauth_consents_id on {ns}.oauth_consents (id);
