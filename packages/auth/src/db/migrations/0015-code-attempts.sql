-- Codes that were tried for an address or a number, whether it has an account or not: a wrong code takes
-- the same time for everybody. One row for each; it is counted anew once a newer code was sent.
create table {ns}.code_attempts (
  -- HMAC of the audience and the address or number: neither can be read from here
  key bytea primary key,
  attempts integer not null,
  tried_at timestamptz not null
);
create index code_attempts_tried_at on {ns}.code_attempts (tried_at);
