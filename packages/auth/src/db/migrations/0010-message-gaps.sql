-- When an address or a number was last asked to be sent a message of a kind, whether it has an account
-- or not: whoever asks again too soon is refused, and learns nothing about who has one.
create table {ns}.message_gaps (
  -- HMAC of the clock, the audience and the address or number: none of them can be read from here
  key bytea primary key,
  sent_at timestamptz not null
);
create index message_gaps_sent_at on {ns}.message_gaps (sent_at);

alter table {ns}.one_time_tokens
  -- somebody who has never confirmed their address asked for a link to sign in, or was invited: the
  -- password of their account may be that of whoever made it, and ends when they confirm
  add column voids_password boolean not null default false;
