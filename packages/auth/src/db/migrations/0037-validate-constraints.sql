-- concurrently
alter table {ns}.sessions validate constraint sessions_factor_id_fkey;
alter table {ns}.sessions validate constraint sessions_aal_check;
alter table {ns}.sessions validate constraint sessions_counter_check;
alter table {ns}.mfa_factors validate constraint mfa_factors_status_check;
alter table {ns}.mfa_factors validate constraint mfa_factors_type_check;
alter table {ns}.webauthn_challenges validate constraint webauthn_challenges_ceremony_check;
alter table {ns}.outbox validate constraint outbox_attempts_check;
alter table {ns}.outbox validate constraint outbox_priority_check;
