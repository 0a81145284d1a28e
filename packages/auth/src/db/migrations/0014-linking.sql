-- An identity is linked by the browser that asked for it, and by no other.
alter table {ns}.flow_states
  -- the session that asked: it must still be there when the identity is linked
  add column linking_session_id uuid,
  -- how far a browser has got that has no other proof: 'unseen', 'proven', 'asked' or 'agreed'
  add column linking_step text,
  -- where a browser goes from there
  add column provider_url text,
  -- who somebody is at the provider, until the code of a PKCE flow is exchanged
  add column linking_profile jsonb;
