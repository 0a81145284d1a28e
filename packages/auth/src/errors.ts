/** The default status of each error code. Supabase clients know these codes. */
export const errorStatuses = {
  unknown: 400,
  unexpected_failure: 500,
  validation_failed: 400,
  bad_json: 400,
  conflict: 409,
  request_timeout: 504,
  request_entity_too_large: 413,
  route_not_found: 404,
  method_not_allowed: 405,
  feature_disabled: 404,
  no_authorization: 401,
  bad_jwt: 403,
  not_admin: 403,
  user_not_found: 404,
  session_not_found: 403,
  session_expired: 403,
  user_banned: 403,
  insufficient_aal: 403,
  unexpected_audience: 403,
  invalid_credentials: 400,
  refresh_token_not_found: 400,
  refresh_token_already_used: 400,
  signup_disabled: 422,
  user_already_exists: 422,
  email_exists: 422,
  phone_exists: 422,
  email_provider_disabled: 422,
  phone_provider_disabled: 422,
  anonymous_provider_disabled: 422,
  provider_disabled: 400,
  weak_password: 422,
  email_address_not_authorized: 400,
  email_address_invalid: 400,
  email_not_confirmed: 400,
  phone_not_confirmed: 400,
  otp_expired: 403,
  otp_disabled: 422,
  same_password: 422,
  reauthentication_needed: 400,
  reauthentication_not_valid: 422,
  current_password_required: 400,
  current_password_invalid: 400,
  over_request_rate_limit: 429,
  over_email_send_rate_limit: 429,
  over_sms_send_rate_limit: 429,
  sms_send_failed: 422,
  email_send_failed: 422,
  captcha_failed: 400,
  hashing_overloaded: 503,
  database_unavailable: 503,
  flow_state_not_found: 404,
  flow_state_expired: 422,
  flow_state_already_used: 422,
  bad_code_verifier: 400,
  manual_linking_disabled: 404,
  identity_not_found: 422,
  identity_already_exists: 422,
  single_identity_not_deletable: 422,
  email_conflict_identity_not_deletable: 422,
  bad_oauth_state: 400,
  bad_oauth_callback: 400,
  provider_email_needs_verification: 422,
  user_sso_managed: 422,
  mfa_factor_not_found: 404,
  mfa_factor_name_conflict: 422,
  too_many_enrolled_mfa_factors: 422,
  mfa_verified_factor_exists: 422,
  mfa_ip_address_mismatch: 422,
  mfa_challenge_expired: 422,
  mfa_verification_failed: 422,
  mfa_verification_rejected: 403,
  mfa_totp_enroll_not_enabled: 422,
  mfa_totp_verify_not_enabled: 422,
  mfa_phone_enroll_not_enabled: 422,
  mfa_phone_verify_not_enabled: 422,
  mfa_webauthn_enroll_not_enabled: 422,
  mfa_webauthn_verify_not_enabled: 422,
  mfa_recovery_codes_enroll_not_enabled: 422,
  mfa_recovery_codes_verify_not_enabled: 422,
  mfa_recovery_codes_sole_factor: 422,
  mfa_recovery_codes_locked: 429,
  passkey_disabled: 404,
  too_many_passkeys: 422,
  webauthn_credential_exists: 422,
  webauthn_challenge_not_found: 400,
  webauthn_challenge_expired: 400,
  webauthn_verification_failed: 400,
  api_key_not_found: 404,
  invalid_api_key: 401,
  too_many_api_keys: 422,
  service_account_not_found: 404,
  oauth_client_not_found: 404,
  oauth_dynamic_client_registration_disabled: 403,
  oauth_authorization_not_found: 404,
  oauth_consent_not_found: 404,
  oauth_token_not_allowed: 403,
  saml_provider_disabled: 404,
  saml_relay_state_not_found: 404,
  saml_relay_state_expired: 422,
  saml_idp_not_found: 404,
  saml_idp_already_exists: 422,
  saml_entity_id_mismatch: 400,
  saml_metadata_fetch_failed: 400,
  saml_assertion_no_user_id: 400,
  saml_assertion_no_email: 400,
  scim_request_invalid: 400,
  scim_resource_not_found: 404,
  scim_token_not_found: 404,
  sso_provider_not_found: 404,
  sso_provider_disabled: 404,
  sso_domain_already_exists: 400,
  web3_provider_disabled: 422,
  web3_unsupported_chain: 400,
  custom_provider_not_found: 404,
  over_custom_provider_quota: 400,
  hook_timeout: 422,
  hook_timeout_after_retry: 422,
  hook_payload_over_size_limit: 422,
  hook_payload_invalid_content_type: 400,
} as const

export type ErrorCode = keyof typeof errorStatuses

export interface ErrorDetails {
  /** Overrides the status of the code. */
  readonly status?: number
  /** Why a password is weak. */
  readonly weakPassword?: { readonly reasons: readonly string[] }
  readonly retryAfterSeconds?: number
  /** The `error` field of RFC 6749, for responses in that form. */
  readonly oauthError?: string
  /** The keyword of RFC 7644, section 3.12. */
  readonly scimType?: string
  /** The header `WWW-Authenticate`. */
  readonly authenticate?: string
  /** The header `DPoP-Nonce`: the nonce for the next proof (RFC 9449, section 8). */
  readonly proofNonce?: string
  /** Written to the log only. */
  readonly cause?: unknown
}

/** An error response. The message is public; the cause is only logged. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly weakPassword: ErrorDetails['weakPassword']
  readonly retryAfterSeconds: number | undefined
  readonly oauthError: string | undefined
  readonly scimType: string | undefined
  readonly authenticate: string | undefined
  readonly proofNonce: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.status = details.status ?? errorStatuses[code]
    this.weakPassword = details.weakPassword
    this.retryAfterSeconds = details.retryAfterSeconds
    this.oauthError = details.oauthError
    this.scimType = details.scimType
    this.authenticate = details.authenticate
    this.proofNonce = details.proofNonce
  }
}

/** An invalid setting. The message contains the reason and never a secret. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

export function invalid(message: string, details?: ErrorDetails): ApiError {
  return new ApiError('validation_failed', message, details)
}

/** Invalid parameters of a list. */
export function badPagination(detail: string): ApiError {
  return invalid(`Bad Pagination Parameters: ${detail}`)
}
