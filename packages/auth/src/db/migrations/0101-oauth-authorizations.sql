-- Apart from 0100: a transaction that locks both tables could cause deadlocks with requests.
alter table {ns}.oauth_authorizations
  -- The thumbprint of the key that must prove itself when the code is exchanged (RFC 9449, section 10).
  add column dpop_jkt text,
  -- The session in which the user has approved the request. Null for approvals in earlier releases. Its end makes the code unusable.
  add column approved_in uuid;
