import { readFileSync } from 'node:fs'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  type AnyVariable,
  boolean,
  type Chapter,
  hideAll,
  list,
  map,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import type { HashKeys } from '../tokens/hash-box.ts'
import type { SecretKeys } from '../tokens/secret-box.ts'
import { withOldNames } from './variables.ts'

export const secrets = {
  title: 'Secrets',
  variables: withOldNames({
    keys: list(
      'AUTH_SECRETS_KEY',
      [],
      'Encrypts the keys for refresh tokens, codes and second factors in the database; at least 32 ' +
        'characters. Several keys are separated by commas: the first encrypts, the others only decrypt',
      { mask: hideAll },
    ),
    file: string(
      'AUTH_SECRETS_KEY_FILE',
      '',
      'File that contains the value of AUTH_SECRETS_KEY; keys are separated by commas or line breaks',
    ),
    encrypts: boolean(
      'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT',
      false,
      'Whether AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY encrypts what AUTH_SECRETS_KEY would encrypt, ' +
        'and also password hashes',
    ),
    encryptionKeyId: string(
      'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID',
      '',
      'Name of the encryption key in AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS',
    ),
    encryptionKey: string(
      'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY',
      '',
      'Key that encrypts: 32 bytes in base64url without padding',
      { mask: hideAll },
    ),
    decryptionKeys: map(
      'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS',
      'Keys that decrypt, including the encryption key: NAME:KEY,NAME:KEY',
      { mask: hideAll },
    ),
  }),
} satisfies Chapter

const shortestKey = 32

const missing =
  'is not set: anyone who can read the database or a backup can forge refresh tokens and read the ' +
  'secrets of second factors. Set it to a random string: ' +
  `node -p "require('node:crypto').randomBytes(32).toString('base64url')"`

export interface SecretsConfig extends SecretKeys {
  readonly hashes: HashKeys
}

/** Returns the keys that encrypt other keys, and those that encrypt password hashes. */
export function toSecrets(
  settings: Settings<typeof secrets.variables>,
  check: Check,
): SecretsConfig {
  const { variables } = secrets
  const isInFile = settings.file !== ''
  if (isInFile && settings.keys.length > 0) {
    const name = check.nameOf(variables.keys)
    check.fault(variables.file, `must not be set together with ${name}`)
  }
  const own = isInFile
    ? checkKeys(variables.file, readKeys(settings.file, check), check)
    : checkKeys(variables.keys, settings.keys, check)
  const named = toNamedKeys(settings, check)
  if (settings.encrypts && (isInFile || own.length > 0)) {
    const name = check.nameOf(isInFile ? variables.file : variables.keys)
    const message = `must not be true together with ${name}: only one of them can encrypt`
    check.fault(variables.encrypts, message)
  }
  const encryption = settings.encrypts ? settings.encryptionKey : own[0]
  if (encryption === undefined && !isInFile) {
    check.note(`${check.nameOf(variables.keys)} ${missing}`)
  }
  // AUTH_SECRETS_KEY does not encrypt hashes: an operator who loses it must not lose all passwords.
  const currentId = settings.encrypts ? settings.encryptionKeyId : undefined
  return {
    encryption,
    all: [...new Set([...own, ...named])],
    hashes: { currentId, byId: settings.decryptionKeys },
  }
}

const key256 = /^[\w-]{43}$/

/** Checks the keys in the format of GoTrue. */
function toNamedKeys(
  settings: Settings<typeof secrets.variables>,
  check: Check,
): readonly string[] {
  const { variables } = secrets
  const { encrypts, encryptionKeyId: id, encryptionKey, decryptionKeys } = settings
  const format = 'must be 32 bytes in base64url without padding, which are 43 characters'
  for (const [name, key] of decryptionKeys) {
    if (!key256.test(key)) check.fault(variables.decryptionKeys, `the key ${name} ${format}`)
  }
  if (!encrypts) return [...decryptionKeys.values()]
  const switchedOn = `${check.nameOf(variables.encrypts)} is true`
  if (id === '') check.fault(variables.encryptionKeyId, `is required if ${switchedOn}`)
  if (encryptionKey === '') check.fault(variables.encryptionKey, `is required if ${switchedOn}`)
  else if (!key256.test(encryptionKey)) check.fault(variables.encryptionKey, format)
  if (id !== '' && decryptionKeys.get(id) !== encryptionKey) {
    const name = check.nameOf(variables.encryptionKey)
    const message = `must contain the value of ${name} under the name ${id}`
    check.fault(variables.decryptionKeys, message)
  }
  return [encryptionKey, ...decryptionKeys.values()]
}

function readKeys(path: string, check: Check): readonly string[] {
  const { file } = secrets.variables
  try {
    const keys = readFileSync(path, 'utf8').split(/[,\n]/)
    const found = keys.map((key) => key.trim()).filter((key) => key !== '')
    if (found.length === 0) check.fault(file, 'names a file that contains no key')
    return found
  } catch (error) {
    const fault =
      toCode(error) === 'ENOENT'
        ? 'names a file that does not exist'
        : `cannot be read: ${toReason(error)}`
    check.fault(file, fault)
    return []
  }
}

function checkKeys(
  variable: AnyVariable,
  keys: readonly string[],
  check: Check,
): readonly string[] {
  if (keys.some((key) => key.length < shortestKey)) {
    check.fault(variable, `must have at least ${shortestKey} characters in each key`)
  }
  return keys
}
