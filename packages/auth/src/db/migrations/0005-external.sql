-- A sign-in through a provider is a flow too. Its id is the state that goes there and comes back.
alter table {ns}.flow_states
  -- null: tokens go into the fragment, and there is no code
  alter column code_challenge drop not null,
  alter column code_challenge_method drop not null,
  add column aud text not null default '',
  -- what the provider's file wants back: a PKCE verifier of our own, the secret of a request token
  add column provider_memo jsonb not null default '{}',
  -- SHA-256 of what the browser that started it has in a cookie; null: it may be any
  add column browser_hash bytea,
  -- whether the request asked for scopes, and so for the provider's token in the fragment
  add column asks_scopes boolean not null default false,
  -- the user who gets one more identity
  add column linking_target_id uuid references {ns}.users on delete cascade,
  -- of the link in an invitation
  add column invite_token_hash bytea,
  -- when somebody came back with it: nobody can a second time
  add column claimed_at timestamptz;
create index flow_states_linking_target on {ns}.flow_states (linking_target_id)
  where linking_target_id is not null;
