-- concurrently
-- A search for a part of a phone number.
create index concurrently if not exists users_phone_parts on {ns}.users using gin ({ns}.phone_parts(phone))
  where phone is not null;
