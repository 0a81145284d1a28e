import { Secret } from 'otpauth'
import { parseMetadata } from '../../saml/identity-provider.ts'
import { SamlError } from '../../saml/saml-error.ts'
import type { HashBox } from '../../tokens/hash-box.ts'
import type { SecretBox } from '../../tokens/secret-box.ts'
import type { FieldDecryption } from './field-encryption.ts'

export interface SecretTools {
  readonly decryption: FieldDecryption
  /** Encrypts password hashes if this server is configured to. */
  readonly hashes: HashBox
  /** Encrypts TOTP secrets and the secrets of custom providers. */
  readonly factorSecrets: SecretBox
  /** Encrypts the keys of sessions. */
  readonly sessionKeys: SecretBox
}

/** The secret of a row in the format of this server. */
export interface ConvertedSecret {
  readonly sealed?: Buffer
  readonly text?: string
  readonly json?: object
  /** The reason if the secret cannot be used. */
  readonly flaw?: string
}

/**
 * Secrets that have to be converted, because they are encrypted or have another format, and values that
 * have to be checked.
 */
export interface SecretKind {
  /** Expressions over the staged row `s`, which become the fields of `SecretRow`. */
  readonly columns: string
  /** Which staged rows have such a secret that has to be converted. */
  condition(tools: SecretTools): string
  convert(row: SecretRow, tools: SecretTools): ConvertedSecret
}

export interface SecretRow {
  readonly id: string
  readonly value: string | null
  readonly factor_type?: string
  readonly status?: string
  readonly credential?: unknown
  readonly entity_id?: string
}

/** The kind of secrets in each table of the source. */
export const secretKinds: Readonly<Record<string, SecretKind>> = {
  users: {
    columns: 's.encrypted_password as value',
    // Other hashes are copied within the database, which is faster.
    condition: ({ hashes }) =>
      `s.encrypted_password ${hashes.encrypts ? 'is not null' : "like '{%'"}`,
    convert({ id, value }, { decryption, hashes }) {
      const hash = decryption.decrypt(value ?? '', id)
      if (hash === undefined) return { flaw: 'The password hash cannot be decrypted' }
      return { text: hashes.seal(hash, id) }
    },
  },
  mfa_factors: {
    columns: 's.secret as value, s.factor_type, s.status, s.web_authn_credential as credential',
    condition: () => 'true',
    convert(row, tools) {
      if (row.factor_type === 'totp') return convertTotp(row, tools)
      return row.factor_type === 'webauthn' ? convertCredential(row) : {}
    },
  },
  sessions: {
    columns: 's.refresh_token_hmac_key as value',
    condition: () => 's.refresh_token_hmac_key is not null',
    convert({ id, value }, { decryption, sessionKeys }) {
      const text = decryption.decrypt(value ?? '', id)
      if (text === undefined) return { flaw: 'The key of the session cannot be decrypted' }
      return { sealed: sessionKeys.seal(Buffer.from(text, 'base64url'), id) }
    },
  },
  custom_oauth_providers: {
    columns: 's.secret as value',
    condition: () => 'true',
    convert({ id, value }, { decryption, factorSecrets }) {
      const text = decryption.decrypt(value ?? '', id)
      if (text === undefined) return { flaw: 'The secret of the provider cannot be decrypted' }
      return { sealed: factorSecrets.seal(Buffer.from(text), id) }
    },
  },
  sso_providers: {
    columns: 's.metadata_xml as value, s.entity_id',
    condition: () => 'true',
    convert: checkMetadata,
  },
}

function checkMetadata({ value, entity_id: entityId }: SecretRow): ConvertedSecret {
  try {
    if (parseMetadata(value ?? '').entityId === entityId) return {}
    return { flaw: 'The SAML metadata is that of another entity' }
  } catch (error) {
    if (error instanceof SamlError) return { flaw: error.message }
    throw error
  }
}

function convertTotp({ id, value }: SecretRow, tools: SecretTools): ConvertedSecret {
  const text = value === null ? undefined : tools.decryption.decrypt(value, id)
  if (text === undefined || text === '') return { flaw: 'The TOTP secret cannot be read' }
  try {
    const { bytes } = Secret.fromBase32(text.replaceAll(/[\s=]/g, ''))
    return { sealed: tools.factorSecrets.seal(bytes, id) }
  } catch {
    return { flaw: 'The TOTP secret is not base32' }
  }
}

/** The source stores a credential in the format of its WebAuthn library, with bytes in base64. */
function convertCredential({ status, credential }: SecretRow): ConvertedSecret {
  const { id, publicKey, transport, flags, authenticator } = toRecord(credential)
  if (typeof id !== 'string' || typeof publicKey !== 'string') {
    return status === 'verified' ? { flaw: 'The WebAuthn credential is missing' } : {}
  }
  const { backupEligible, backupState } = toRecord(flags)
  const { signCount } = toRecord(authenticator)
  return {
    json: {
      id: Buffer.from(id, 'base64').toString('base64url'),
      public_key: Buffer.from(publicKey, 'base64').toString('base64url'),
      sign_count: typeof signCount === 'number' ? signCount : 0,
      transports: Array.isArray(transport) ? transport : [],
      is_syncable: backupEligible === true,
      is_backed_up: backupState === true,
    },
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
