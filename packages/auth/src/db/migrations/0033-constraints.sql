-- None of them reads its table now: 0037 validates them while rows are written.
alter table {ns}.sessions
  add constraint sessions_factor_id_fkey foreign key (factor_id) references {ns}.mfa_factors
    on delete set null not valid,
  add constraint sessions_aal_check check (aal in ('aal1', 'aal2')) not valid,
  add constraint sessions_counter_check check (refresh_token_counter >= 0) not valid;
alter table {ns}.mfa_factors
  add constraint mfa_factors_status_check check (status in ('unverified', 'verified')) not valid,
  add constraint mfa_factors_type_check
    check (factor_type in ('totp', 'phone', 'webauthn', 'recovery_code')) not valid;
alter table {ns}.webauthn_challenges
  add constraint webauthn_challenges_ceremony_check
    check (ceremony in ('registration', 'authentication')) not valid;
alter table {ns}.outbox
  add constraint outbox_attempts_check check (attempts >= 0) not valid,
  add constraint outbox_priority_check check (priority in (0, 1)) not valid;
