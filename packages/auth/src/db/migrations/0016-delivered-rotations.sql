-- When the answer that carried the present refresh token was sent. The reuse interval of the token before
-- begins then, and not when the row was changed: a commit may become visible much later than that.
alter table {ns}.sessions
  -- the refresh_token_counter that delivered_at belongs to; another one: it is not known to be delivered
  add column delivered_counter integer not null default -1,
  add column delivered_at timestamptz;
