import { Secret } from 'otpauth'
import type { HashBox } from '../tokens/hash-box.ts'
import type { SecretBox } from '../tokens/secret-box.ts'

export interface SecretTools {
  /** Decrypts password hashes. */
  readonly hashes: HashBox
  /** Decrypts TOTP secrets and the secrets of custom providers. */
  readonly factorSecrets: SecretBox
}

/** A staged row with a secret. */
export interface SecretRow {
  readonly id: string
  readonly secret?: Buffer | null
  readonly hash?: string
  readonly credential?: StoredCredential | null
  readonly aaguid?: string | null
}

/** A secret in the format of Supabase Auth. */
export interface ExportedSecret {
  readonly text: string | null
  readonly json: object | null
}

interface SecretKind {
  /** Expressions over the staged row `s`, which become the fields of `SecretRow`. */
  readonly columns: string
  /** Which staged rows have such a secret. Default: all. */
  readonly condition?: string
  convert(row: SecretRow, tools: SecretTools): ExportedSecret
}

/**
 * By table of Supabase Auth: its secrets. They are written unencrypted, which Supabase Auth can read. It
 * encrypts TOTP secrets and password hashes at the next use.
 */
export const secretKinds: Readonly<Record<string, SecretKind>> = {
  users: {
    columns: 's.encrypted_password as hash',
    condition: `s.encrypted_password like '{%'`,
    convert: ({ id, hash = '' }, { hashes }) => ({ text: hashes.open(hash, id), json: null }),
  },
  mfa_factors: {
    columns: 's.secret, s.web_authn_credential as credential, s.web_authn_aaguid as aaguid',
    convert({ id, secret = null, credential = null, aaguid = null }, { factorSecrets }) {
      return {
        text:
          secret === null
            ? null
            : new Secret({ buffer: new Uint8Array(factorSecrets.open(secret, id)).buffer }).base32,
        json: credential === null ? null : toSupabaseCredential(credential, aaguid),
      }
    },
  },
  custom_oauth_providers: {
    columns: 's.client_secret as secret',
    convert({ id, secret = null }, { factorSecrets }) {
      return { text: secret === null ? '' : factorSecrets.open(secret, id).toString(), json: null }
    },
  },
}

/** A WebAuthn credential in the format of this server. */
interface StoredCredential {
  readonly id: string
  readonly public_key: string
  readonly sign_count: number
  readonly transports: readonly string[]
  readonly is_syncable: boolean
  readonly is_backed_up: boolean
}

/** Converts a credential to the format of the WebAuthn library that Supabase Auth uses. */
function toSupabaseCredential(credential: StoredCredential, aaguid: string | null): object {
  const toBase64 = (text: string) => Buffer.from(text, 'base64url').toString('base64')
  return {
    id: toBase64(credential.id),
    publicKey: toBase64(credential.public_key),
    attestationType: 'none',
    transport: credential.transports,
    flags: {
      userPresent: true,
      userVerified: true,
      backupEligible: credential.is_syncable,
      backupState: credential.is_backed_up,
    },
    authenticator: {
      AAGUID: Buffer.from((aaguid ?? '').replaceAll('-', ''), 'hex').toString('base64'),
      signCount: credential.sign_count,
      cloneWarning: false,
    },
  }
}
