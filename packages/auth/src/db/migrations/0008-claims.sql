-- For policies of row-level security in the tables of others: who asks, as the gateway that checked
-- the access token has told the database (`request.jwt.claims`, or one setting for each claim).

create function {ns}.jwt() returns jsonb language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')
  )::jsonb
$$;

create function {ns}.uid() returns uuid language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    {ns}.jwt() ->> 'sub'
  )::uuid
$$;

create function {ns}.role() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    {ns}.jwt() ->> 'role'
  )
$$;

create function {ns}.email() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.email', true), ''),
    {ns}.jwt() ->> 'email'
  )
$$;
