-- All that the migrations make, to compare and to repair with. Written from them by
-- UPDATE_SCHEMA=1 npm test -- packages/auth/test/db/schema.test.ts

-- table audit_log_entries
-- id uuid, payload jsonb, ip_address text, created_at timestamp with time zone

-- table code_attempts
-- key bytea, attempts integer, tried_at timestamp with time zone

-- table flow_states
-- id uuid, user_id uuid, auth_code uuid, code_challenge text, code_challenge_method text, authentication_method text, provider_type text, provider_access_token text, provider_refresh_token text, referrer text, auth_code_issued_at timestamp with time zone, created_at timestamp with time zone, aud text, provider_memo jsonb, browser_hash bytea, asks_scopes boolean, linking_target_id uuid, invite_token_hash bytea, claimed_at timestamp with time zone, linking_session_id uuid, linking_step text, provider_url text, linking_profile jsonb

-- table identities
-- id uuid, user_id uuid, provider text, provider_id text, identity_data jsonb, email text, last_sign_in_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone

-- table message_caps
-- channel text, window_start timestamp with time zone, sent integer, tokens double precision, refilled_at timestamp with time zone

-- table message_gaps
-- key bytea, sent_at timestamp with time zone

-- table mfa_challenges
-- id uuid, factor_id uuid, ip_address text, otp_hash bytea, web_authn_data jsonb, attempts smallint, verified_at timestamp with time zone, expires_at timestamp with time zone, created_at timestamp with time zone

-- table mfa_factors
-- id uuid, user_id uuid, factor_type text, friendly_name text, status text, secret bytea, last_used_step bigint, phone text, web_authn_credential jsonb, web_authn_aaguid uuid, failed_attempts smallint, locked_until timestamp with time zone, last_challenged_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone, known_failures double precision, known_failed_at timestamp with time zone, unknown_failures double precision, unknown_failed_at timestamp with time zone, used_from text[]

-- table mfa_recovery_codes
-- factor_id uuid, code_hash bytea, used_at timestamp with time zone, created_at timestamp with time zone

-- table one_time_tokens
-- user_id uuid, token_type text, token_hash bytea, otp_hash bytea, relates_to text, is_pkce boolean, attempts smallint, expires_at timestamp with time zone, created_at timestamp with time zone, voids_password boolean, claim jsonb

-- table outbox
-- id bigint, channel text, kind text, recipient text, payload jsonb, attempts smallint, next_attempt_at timestamp with time zone, expires_at timestamp with time zone, failed_at timestamp with time zone, last_error text, created_at timestamp with time zone, priority smallint

-- table secret_keys
-- name text, version integer, value bytea, wrapped_with text, active_at timestamp with time zone, created_at timestamp with time zone

-- table server_keys
-- name text, value bytea

-- table sessions
-- id uuid, user_id uuid, aal text, amr jsonb, factor_id uuid, not_after timestamp with time zone, refreshed_at timestamp with time zone, user_agent text, ip text, tag text, refresh_token_counter integer, rotated_at timestamp with time zone, is_recovery boolean, revoked_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone, factor_failures jsonb, delivered_counter integer, delivered_at timestamp with time zone

-- table sign_in_counts
-- step timestamp with time zone, outcome text, count bigint

-- table sign_in_failures
-- id uuid, period timestamp with time zone, aud text, name text, reason text, ip_address text, user_id uuid, count bigint, first_at timestamp with time zone, last_at timestamp with time zone

-- table user_counts
-- aud text, slot smallint, count bigint

-- table users
-- id uuid, aud text, role text, email text, encrypted_password text, email_confirmed_at timestamp with time zone, invited_at timestamp with time zone, confirmation_sent_at timestamp with time zone, recovery_sent_at timestamp with time zone, email_change text, email_change_sent_at timestamp with time zone, email_change_confirm_status smallint, phone text, phone_confirmed_at timestamp with time zone, phone_change text, phone_change_sent_at timestamp with time zone, reauthentication_sent_at timestamp with time zone, last_sign_in_at timestamp with time zone, raw_app_meta_data jsonb, raw_user_meta_data jsonb, is_sso_user boolean, is_anonymous boolean, banned_until timestamp with time zone, deleted_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone, admin_data jsonb

-- table webauthn_challenges
-- id uuid, ceremony text, user_id uuid, challenge text, expires_at timestamp with time zone, created_at timestamp with time zone

-- table webauthn_credentials
-- id uuid, user_id uuid, credential_id bytea, public_key bytea, sign_count bigint, transports jsonb, aaguid uuid, is_syncable boolean, is_backed_up boolean, friendly_name text, last_used_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone

-- function count_users()
CREATE OR REPLACE FUNCTION {ns}.count_users()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into {ns}.user_counts as c (aud, slot, count)
    select aud, pg_backend_pid() % 16, count(*) from changed group by aud order by aud
    on conflict (aud, slot) do update set count = c.count + excluded.count;
  elsif tg_op = 'DELETE' then
    insert into {ns}.user_counts as c (aud, slot, count)
    select aud, pg_backend_pid() % 16, -count(*) from changed group by aud order by aud
    on conflict (aud, slot) do update set count = c.count + excluded.count;
  elsif tg_op = 'UPDATE' then
    insert into {ns}.user_counts as c (aud, slot, count)
    values (old.aud, pg_backend_pid() % 16, -1), (new.aud, pg_backend_pid() % 16, 1)
    on conflict (aud, slot) do update set count = c.count + excluded.count;
  else
    delete from {ns}.user_counts;
  end if;
  return null;
end
$function$
;

-- function email()
CREATE OR REPLACE FUNCTION {ns}.email()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(
    nullif(current_setting('request.jwt.claim.email', true), ''),
    {ns}.jwt() ->> 'email'
  )
$function$
;

-- function jwt()
CREATE OR REPLACE FUNCTION {ns}.jwt()
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')
  )::jsonb
$function$
;

-- function phone_parts(phone text)
CREATE OR REPLACE FUNCTION {ns}.phone_parts(phone text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select coalesce(array_agg(distinct substr(phone, n, 3)), '{}')
  from generate_series(1, length(phone) - 2) n
$function$
;

-- function refuse_plain_keys()
CREATE OR REPLACE FUNCTION {ns}.refuse_plain_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from {ns}.secret_keys where wrapped_with is not null) then
    raise exception 'The keys of this database are encrypted with AUTH_SECRETS_KEY, which this version of the server does not know'
      using hint = 'Start a newer version, or run "auth keys unwrap" with it.';
  end if;
  return new;
end
$function$
;

-- function role()
CREATE OR REPLACE FUNCTION {ns}.role()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    {ns}.jwt() ->> 'role'
  )
$function$
;

-- function tell_audit_entry()
CREATE OR REPLACE FUNCTION {ns}.tell_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise info using
    message = 'audit entry',
    detail = json_build_object('id', new.id, 'payload', new.payload, 'ip', new.ip_address)::text,
    errcode = 'AUDIT';
  if current_setting('portcullis.audit', true) = 'instead' then
    return null;
  end if;
  return new;
end $function$
;

-- function uid()
CREATE OR REPLACE FUNCTION {ns}.uid()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    {ns}.jwt() ->> 'sub'
  )::uuid
$function$
;

-- constraint audit_log_entries.audit_log_entries_pkey
ALTER TABLE {ns}.audit_log_entries ADD CONSTRAINT audit_log_entries_pkey PRIMARY KEY (created_at, id);

-- constraint code_attempts.code_attempts_pkey
ALTER TABLE {ns}.code_attempts ADD CONSTRAINT code_attempts_pkey PRIMARY KEY (key);

-- constraint flow_states.flow_states_auth_code_key
ALTER TABLE {ns}.flow_states ADD CONSTRAINT flow_states_auth_code_key UNIQUE (auth_code);

-- constraint flow_states.flow_states_pkey
ALTER TABLE {ns}.flow_states ADD CONSTRAINT flow_states_pkey PRIMARY KEY (id);

-- constraint identities.identities_pkey
ALTER TABLE {ns}.identities ADD CONSTRAINT identities_pkey PRIMARY KEY (id);

-- constraint identities.identities_provider_provider_id_key
ALTER TABLE {ns}.identities ADD CONSTRAINT identities_provider_provider_id_key UNIQUE (provider, provider_id);

-- constraint message_caps.message_caps_pkey
ALTER TABLE {ns}.message_caps ADD CONSTRAINT message_caps_pkey PRIMARY KEY (channel);

-- constraint message_gaps.message_gaps_pkey
ALTER TABLE {ns}.message_gaps ADD CONSTRAINT message_gaps_pkey PRIMARY KEY (key);

-- constraint mfa_challenges.mfa_challenges_pkey
ALTER TABLE {ns}.mfa_challenges ADD CONSTRAINT mfa_challenges_pkey PRIMARY KEY (id);

-- constraint mfa_factors.mfa_factors_pkey
ALTER TABLE {ns}.mfa_factors ADD CONSTRAINT mfa_factors_pkey PRIMARY KEY (id);

-- constraint mfa_factors.mfa_factors_status_check
ALTER TABLE {ns}.mfa_factors ADD CONSTRAINT mfa_factors_status_check CHECK ((status = ANY (ARRAY['unverified'::text, 'verified'::text])));

-- constraint mfa_factors.mfa_factors_type_check
ALTER TABLE {ns}.mfa_factors ADD CONSTRAINT mfa_factors_type_check CHECK ((factor_type = ANY (ARRAY['totp'::text, 'phone'::text, 'webauthn'::text, 'recovery_code'::text])));

-- constraint mfa_recovery_codes.mfa_recovery_codes_pkey
ALTER TABLE {ns}.mfa_recovery_codes ADD CONSTRAINT mfa_recovery_codes_pkey PRIMARY KEY (factor_id, code_hash);

-- constraint one_time_tokens.one_time_tokens_pkey
ALTER TABLE {ns}.one_time_tokens ADD CONSTRAINT one_time_tokens_pkey PRIMARY KEY (user_id, token_type);

-- constraint outbox.outbox_attempts_check
ALTER TABLE {ns}.outbox ADD CONSTRAINT outbox_attempts_check CHECK ((attempts >= 0));

-- constraint outbox.outbox_pkey
ALTER TABLE {ns}.outbox ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

-- constraint outbox.outbox_priority_check
ALTER TABLE {ns}.outbox ADD CONSTRAINT outbox_priority_check CHECK ((priority = ANY (ARRAY[0, 1])));

-- constraint secret_keys.secret_keys_pkey
ALTER TABLE {ns}.secret_keys ADD CONSTRAINT secret_keys_pkey PRIMARY KEY (name, version);

-- constraint server_keys.server_keys_pkey
ALTER TABLE {ns}.server_keys ADD CONSTRAINT server_keys_pkey PRIMARY KEY (name);

-- constraint sessions.sessions_aal_check
ALTER TABLE {ns}.sessions ADD CONSTRAINT sessions_aal_check CHECK ((aal = ANY (ARRAY['aal1'::text, 'aal2'::text])));

-- constraint sessions.sessions_counter_check
ALTER TABLE {ns}.sessions ADD CONSTRAINT sessions_counter_check CHECK ((refresh_token_counter >= 0));

-- constraint sessions.sessions_pkey
ALTER TABLE {ns}.sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

-- constraint sign_in_counts.sign_in_counts_pkey
ALTER TABLE {ns}.sign_in_counts ADD CONSTRAINT sign_in_counts_pkey PRIMARY KEY (step, outcome);

-- constraint sign_in_failures.sign_in_failures_period_aud_name_reason_ip_add
ALTER TABLE {ns}.sign_in_failures ADD CONSTRAINT sign_in_failures_period_aud_name_reason_ip_address_key UNIQUE (period, aud, name, reason, ip_address);

-- constraint sign_in_failures.sign_in_failures_pkey
ALTER TABLE {ns}.sign_in_failures ADD CONSTRAINT sign_in_failures_pkey PRIMARY KEY (id);

-- constraint user_counts.user_counts_pkey
ALTER TABLE {ns}.user_counts ADD CONSTRAINT user_counts_pkey PRIMARY KEY (aud, slot);

-- constraint users.users_pkey
ALTER TABLE {ns}.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);

-- constraint webauthn_challenges.webauthn_challenges_ceremony_check
ALTER TABLE {ns}.webauthn_challenges ADD CONSTRAINT webauthn_challenges_ceremony_check CHECK ((ceremony = ANY (ARRAY['registration'::text, 'authentication'::text])));

-- constraint webauthn_challenges.webauthn_challenges_pkey
ALTER TABLE {ns}.webauthn_challenges ADD CONSTRAINT webauthn_challenges_pkey PRIMARY KEY (id);

-- constraint webauthn_credentials.webauthn_credentials_pkey
ALTER TABLE {ns}.webauthn_credentials ADD CONSTRAINT webauthn_credentials_pkey PRIMARY KEY (id);

-- constraint flow_states.flow_states_linking_target_id_fkey
ALTER TABLE {ns}.flow_states ADD CONSTRAINT flow_states_linking_target_id_fkey FOREIGN KEY (linking_target_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint flow_states.flow_states_user_id_fkey
ALTER TABLE {ns}.flow_states ADD CONSTRAINT flow_states_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint identities.identities_user_id_fkey
ALTER TABLE {ns}.identities ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint mfa_challenges.mfa_challenges_factor_id_fkey
ALTER TABLE {ns}.mfa_challenges ADD CONSTRAINT mfa_challenges_factor_id_fkey FOREIGN KEY (factor_id) REFERENCES {ns}.mfa_factors(id) ON DELETE CASCADE;

-- constraint mfa_factors.mfa_factors_user_id_fkey
ALTER TABLE {ns}.mfa_factors ADD CONSTRAINT mfa_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint mfa_recovery_codes.mfa_recovery_codes_factor_id_fkey
ALTER TABLE {ns}.mfa_recovery_codes ADD CONSTRAINT mfa_recovery_codes_factor_id_fkey FOREIGN KEY (factor_id) REFERENCES {ns}.mfa_factors(id) ON DELETE CASCADE;

-- constraint one_time_tokens.one_time_tokens_user_id_fkey
ALTER TABLE {ns}.one_time_tokens ADD CONSTRAINT one_time_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint sessions.sessions_factor_id_fkey
ALTER TABLE {ns}.sessions ADD CONSTRAINT sessions_factor_id_fkey FOREIGN KEY (factor_id) REFERENCES {ns}.mfa_factors(id) ON DELETE SET NULL;

-- constraint sessions.sessions_user_id_fkey
ALTER TABLE {ns}.sessions ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint sign_in_failures.sign_in_failures_user_id_fkey
ALTER TABLE {ns}.sign_in_failures ADD CONSTRAINT sign_in_failures_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint webauthn_challenges.webauthn_challenges_user_id_fkey
ALTER TABLE {ns}.webauthn_challenges ADD CONSTRAINT webauthn_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- constraint webauthn_credentials.webauthn_credentials_user_id_fkey
ALTER TABLE {ns}.webauthn_credentials ADD CONSTRAINT webauthn_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES {ns}.users(id) ON DELETE CASCADE;

-- index audit_log_entries.audit_log_entries_action
CREATE INDEX audit_log_entries_action ON {ns}.audit_log_entries USING btree (((payload ->> 'log_type'::text)), ((payload ->> 'action'::text)), created_at) WHERE ((payload ->> 'log_type'::text) IS DISTINCT FROM 'token'::text);

-- index audit_log_entries.audit_log_entries_user
CREATE INDEX audit_log_entries_user ON {ns}.audit_log_entries USING btree (((COALESCE((payload #>> '{traits,user_id}'::text[]), (payload ->> 'actor_id'::text)))::uuid), created_at);

-- index code_attempts.code_attempts_tried_at
CREATE INDEX code_attempts_tried_at ON {ns}.code_attempts USING btree (tried_at);

-- index flow_states.flow_states_created_at
CREATE INDEX flow_states_created_at ON {ns}.flow_states USING btree (created_at);

-- index flow_states.flow_states_linking_target
CREATE INDEX flow_states_linking_target ON {ns}.flow_states USING btree (linking_target_id) WHERE (linking_target_id IS NOT NULL);

-- index flow_states.flow_states_user_id
CREATE INDEX flow_states_user_id ON {ns}.flow_states USING btree (user_id, authentication_method, created_at);

-- index identities.identities_email
CREATE INDEX identities_email ON {ns}.identities USING btree (email);

-- index identities.identities_user_id
CREATE INDEX identities_user_id ON {ns}.identities USING btree (user_id);

-- index message_gaps.message_gaps_sent_at
CREATE INDEX message_gaps_sent_at ON {ns}.message_gaps USING btree (sent_at);

-- index mfa_challenges.mfa_challenges_expires_at
CREATE INDEX mfa_challenges_expires_at ON {ns}.mfa_challenges USING btree (expires_at);

-- index mfa_challenges.mfa_challenges_factor_id
CREATE INDEX mfa_challenges_factor_id ON {ns}.mfa_challenges USING btree (factor_id);

-- index mfa_factors.mfa_factors_name
CREATE UNIQUE INDEX mfa_factors_name ON {ns}.mfa_factors USING btree (user_id, friendly_name) WHERE (friendly_name <> ''::text);

-- index mfa_factors.mfa_factors_phone
CREATE UNIQUE INDEX mfa_factors_phone ON {ns}.mfa_factors USING btree (user_id, phone);

-- index mfa_factors.mfa_factors_recovery
CREATE UNIQUE INDEX mfa_factors_recovery ON {ns}.mfa_factors USING btree (user_id) WHERE (factor_type = 'recovery_code'::text);

-- index mfa_factors.mfa_factors_unverified
CREATE INDEX mfa_factors_unverified ON {ns}.mfa_factors USING btree (created_at) WHERE (status = 'unverified'::text);

-- index mfa_factors.mfa_factors_user_id
CREATE INDEX mfa_factors_user_id ON {ns}.mfa_factors USING btree (user_id, created_at);

-- index one_time_tokens.one_time_tokens_expires_at
CREATE INDEX one_time_tokens_expires_at ON {ns}.one_time_tokens USING btree (expires_at);

-- index one_time_tokens.one_time_tokens_relates_to
CREATE INDEX one_time_tokens_relates_to ON {ns}.one_time_tokens USING btree (relates_to);

-- index one_time_tokens.one_time_tokens_token_hash
CREATE UNIQUE INDEX one_time_tokens_token_hash ON {ns}.one_time_tokens USING btree (token_hash);

-- index outbox.outbox_due
CREATE INDEX outbox_due ON {ns}.outbox USING btree (channel, priority, next_attempt_at, id) WHERE (failed_at IS NULL);

-- index outbox.outbox_email
CREATE INDEX outbox_email ON {ns}.outbox USING btree (((payload ->> 'Email'::text))) WHERE (failed_at IS NULL);

-- index outbox.outbox_failed_at
CREATE INDEX outbox_failed_at ON {ns}.outbox USING btree (failed_at) WHERE (failed_at IS NOT NULL);

-- index outbox.outbox_recipient
CREATE INDEX outbox_recipient ON {ns}.outbox USING btree (recipient) WHERE (failed_at IS NULL);

-- index sessions.sessions_factor_id
CREATE INDEX sessions_factor_id ON {ns}.sessions USING btree (factor_id) WHERE (factor_id IS NOT NULL);

-- index sessions.sessions_not_after
CREATE INDEX sessions_not_after ON {ns}.sessions USING btree (not_after) WHERE (not_after IS NOT NULL);

-- index sessions.sessions_revoked_at
CREATE INDEX sessions_revoked_at ON {ns}.sessions USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);

-- index sessions.sessions_user_id
CREATE INDEX sessions_user_id ON {ns}.sessions USING btree (user_id, created_at);

-- index sign_in_failures.sign_in_failures_last_at
CREATE INDEX sign_in_failures_last_at ON {ns}.sign_in_failures USING btree (last_at, id);

-- index sign_in_failures.sign_in_failures_user
CREATE INDEX sign_in_failures_user ON {ns}.sign_in_failures USING btree (user_id, last_at, id);

-- index users.users_email
CREATE UNIQUE INDEX users_email ON {ns}.users USING btree (email) WHERE (NOT is_sso_user);

-- index users.users_page
CREATE INDEX users_page ON {ns}.users USING btree (aud, created_at, id);

-- index users.users_phone
CREATE UNIQUE INDEX users_phone ON {ns}.users USING btree (phone);

-- index users.users_phone_parts
CREATE INDEX users_phone_parts ON {ns}.users USING gin ({ns}.phone_parts(phone)) WHERE (phone IS NOT NULL);

-- index users.users_search
CREATE INDEX users_search ON {ns}.users USING gin (email {trgm}.gin_trgm_ops, ((raw_user_meta_data ->> 'full_name'::text)) {trgm}.gin_trgm_ops);

-- index webauthn_challenges.webauthn_challenges_expires_at
CREATE INDEX webauthn_challenges_expires_at ON {ns}.webauthn_challenges USING btree (expires_at);

-- index webauthn_challenges.webauthn_challenges_user_id
CREATE INDEX webauthn_challenges_user_id ON {ns}.webauthn_challenges USING btree (user_id) WHERE (user_id IS NOT NULL);

-- index webauthn_credentials.webauthn_credentials_credential_id
CREATE UNIQUE INDEX webauthn_credentials_credential_id ON {ns}.webauthn_credentials USING btree (credential_id);

-- index webauthn_credentials.webauthn_credentials_user_id
CREATE INDEX webauthn_credentials_user_id ON {ns}.webauthn_credentials USING btree (user_id, created_at);

-- trigger audit_log_entries.tell_audit_entry
CREATE TRIGGER tell_audit_entry BEFORE INSERT ON {ns}.audit_log_entries FOR EACH ROW WHEN ((current_setting('portcullis.audit'::text, true) = ANY (ARRAY['tell'::text, 'instead'::text]))) EXECUTE FUNCTION {ns}.tell_audit_entry();

-- trigger server_keys.refuse_plain_keys
CREATE TRIGGER refuse_plain_keys BEFORE INSERT ON {ns}.server_keys FOR EACH ROW EXECUTE FUNCTION {ns}.refuse_plain_keys();

-- trigger users.count_deleted
CREATE TRIGGER count_deleted AFTER DELETE ON {ns}.users REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {ns}.count_users();

-- trigger users.count_inserted
CREATE TRIGGER count_inserted AFTER INSERT ON {ns}.users REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {ns}.count_users();

-- trigger users.count_moved
CREATE TRIGGER count_moved AFTER UPDATE OF aud ON {ns}.users FOR EACH ROW WHEN ((old.aud IS DISTINCT FROM new.aud)) EXECUTE FUNCTION {ns}.count_users();

-- trigger users.count_truncated
CREATE TRIGGER count_truncated AFTER TRUNCATE ON {ns}.users FOR EACH STATEMENT EXECUTE FUNCTION {ns}.count_users();
