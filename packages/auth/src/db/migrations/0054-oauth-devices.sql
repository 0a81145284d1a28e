-- Clients whose client_id is the URL of a document that describes them. The row is a copy of the document.
alter table {ns}.oauth_clients
  add column metadata_url text unique,
  add column metadata_expires_at timestamptz;
alter table {ns}.oauth_clients drop constraint oauth_clients_registration_type_check;
alter table {ns}.oauth_clients add constraint oauth_clients_registration_type_check
  check (registration_type in ('manual', 'dynamic', 'document'));

-- Requests of devices without a browser (RFC 8628). The user types in the user code on another device.
alter table {ns}.oauth_authorizations
  add column user_code text unique,
  -- SHA-256 of the device code.
  add column device_code_hash bytea unique,
  add column polled_at timestamptz;
