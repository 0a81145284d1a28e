-- Messages of wallets that were used to sign in, so that each is accepted only once.
create table {ns}.web3_messages (
  -- SHA-256 of the wallet with the nonce, or with the whole message if it has no nonce.
  key bytea primary key,
  -- From then on the message is refused because of its age.
  expires_at timestamptz not null
);
create index web3_messages_expires_at on {ns}.web3_messages (expires_at);
