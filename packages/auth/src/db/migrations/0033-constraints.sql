-- concurrently
-- Each constraint is added without reading the table, and then validated while rows are written.
alter table {ns}.sessions
  drop constraint if exists sessions_factor_id_fkey,
  add constraint sessions_factor_id_fkey foreign key (factor_id) references {ns}.mfa_factors
    on delete set null not valid;
-- Sessions that ended may still name a factor that was removed since.
update {ns}.sessions s set factor_id = null
where s.factor_id is not null and not exists (select from {ns}.mfa_factors f where f.id = s.factor_id);
alter table {ns}.sessions validate constraint sessions_factor_id_fkey;

alter table {ns}.sessions
  drop constraint if exists sessions_aal_check,
  add constraint sessions_aal_check check (aal in ('aal1', 'aal2')) not valid;
alter table {ns}.sessions validate constraint sessions_aal_check;

alter table {ns}.sessions
  drop constraint if exists sessions_counter_check,
  add constraint sessions_counter_check check (refresh_token_counter >= 0) not valid;
alter table {ns}.sessions validate constraint sessions_counter_check;

alter table {ns}.mfa_factors
  drop constraint if exists mfa_factors_status_check,
  add constraint mfa_factors_status_check check (status in ('unverified', 'verified')) not valid;
alter table {ns}.mfa_factors validate constraint mfa_factors_status_check;

alter table {ns}.mfa_factors
  drop constraint if exists mfa_factors_type_check,
  add constraint mfa_factors_type_check
    check (factor_type in ('totp', 'phone', 'webauthn', 'recovery_code')) not valid;
alter table {ns}.mfa_factors validate constraint mfa_factors_type_check;

alter table {ns}.webauthn_challenges
  drop constraint if exists webauthn_challenges_ceremony_check,
  add constraint webauthn_challenges_ceremony_check
    check (ceremony in ('registration', 'authentication')) not valid;
alter table {ns}.webauthn_challenges validate constraint webauthn_challenges_ceremony_check;

alter table {ns}.outbox
  drop constraint if exists outbox_attempts_check,
  add constraint outbox_attempts_check check (attempts >= 0) not valid;
alter table {ns}.outbox validate constraint outbox_attempts_check;
