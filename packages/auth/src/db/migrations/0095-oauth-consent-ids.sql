-- Identifies what a user has granted to a client, so that "auth import" and "auth export" recognise it.
alter table {ns}.oauth_consents add column id uuid not null default gen_random_uuid();
