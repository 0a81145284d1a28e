-- The refresh_token_counter at which a second factor last raised the session from aal1 to aal2. The token with
-- this counter stays valid at aal1 until the token of the raise is used, if the server is configured so.
alter table {ns}.sessions add column raised_from integer;
