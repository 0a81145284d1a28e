/** An OAuth client as the auth server returns it. */
export interface OAuthClient {
  readonly client_id: string
  readonly client_type: 'confidential' | 'public'
  readonly client_name?: string
  readonly client_uri?: string
  readonly logo_uri?: string
  readonly redirect_uris: readonly string[]
  readonly grant_types: readonly string[]
  readonly token_endpoint_auth_method: string
  /** Missing: the client may request all scopes. */
  readonly scope?: string
  /** Whether the client only gets tokens that are bound to a key (DPoP). Missing with Supabase Auth. */
  readonly dpop_bound_access_tokens?: boolean
  /** Whether an administrator registered the client, the client itself, or a document describes it. */
  readonly registration_type: 'manual' | 'dynamic' | 'document'
  /** Until when the previous secret is accepted. */
  readonly previous_secret_expires_at?: string
  readonly created_at: string
  readonly updated_at: string
}

/** The only response that has the secret. */
export interface NewOAuthClient extends OAuthClient {
  readonly client_secret?: string
}

/** A provider that administrators have registered. */
export interface CustomProvider {
  readonly id: string
  /** Such as `custom:example`. */
  readonly identifier: string
  readonly provider_type: 'oidc' | 'oauth2'
  readonly name: string
  readonly enabled: boolean
  readonly client_id: string
  readonly acceptable_client_ids: readonly string[]
  readonly scopes: readonly string[]
  readonly pkce_enabled: boolean
  readonly email_optional: boolean
  readonly skip_nonce_check?: boolean
  readonly attribute_mapping: Readonly<Record<string, unknown>>
  readonly custom_claims_allowlist: readonly string[]
  readonly authorization_params: Readonly<Record<string, string>>
  readonly issuer?: string
  readonly discovery_url?: string
  readonly discovery_document?: Readonly<Record<string, unknown>>
  readonly authorization_url?: string
  readonly token_url?: string
  readonly userinfo_url?: string
  readonly jwks_uri?: string
  /** Absent from Supabase Auth, whose providers share one. */
  readonly callback_url?: string
  readonly created_at: string
  readonly updated_at: string
}

/** A SAML identity provider. */
export interface SsoProvider {
  readonly id: string
  readonly resource_id?: string
  readonly disabled: boolean | null
  readonly domains: readonly { readonly domain: string }[]
  readonly saml: {
    readonly entity_id: string
    readonly metadata_url?: string
    readonly attribute_mapping: { readonly keys?: Readonly<Record<string, unknown>> }
    readonly name_id_format?: string
  }
  readonly created_at: string
  readonly updated_at: string
}

export interface ScimToken {
  readonly id: string
  readonly created_at: string
}

/** The only response that has the token. */
export interface NewScimToken extends ScimToken {
  readonly token: string
}

export interface ServiceAccount {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly plan: string | null
  readonly created_at: string
}

export interface ApiKey {
  readonly id: string
  readonly user_id?: string
  readonly service_account_id?: string
  readonly name: string
  /** The end of the key. */
  readonly hint: string
  readonly scopes: readonly string[]
  readonly plan: string | null
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly rotated_at: string | null
  /** Until when the previous secret is accepted. */
  readonly previous_until?: string
  readonly created_at: string
}

/** The only response that has the key. */
export interface NewApiKey extends ApiKey {
  readonly api_key: string
}

/** The addresses of the auth server that providers need. */
export interface AccessAddresses {
  readonly callback_url: string
  readonly saml_entity_id: string
  readonly saml_acs_url: string
  readonly scim_url: string
}
