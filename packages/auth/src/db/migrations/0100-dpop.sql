-- Proofs of DPoP (RFC 9449) that were used, so that each is accepted only once.
create table {ns}.dpop_proofs (
  -- SHA-256 of the thumbprint of the key with the jti.
  key bytea primary key,
  -- From then on the proof is refused because of its age.
  expires_at timestamptz not null
);
create index dpop_proofs_expires_at on {ns}.dpop_proofs (expires_at);

-- Whether the client only gets access tokens that are bound to a key.
alter table {ns}.oauth_clients add column dpop_bound_access_tokens boolean not null default false;
