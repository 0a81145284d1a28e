import { readFileSync } from 'node:fs'
import type { Check } from '@portcullis/service-kit/config-check'
import {
  type AnyVariable,
  type Chapter,
  hideAll,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
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
  }),
} satisfies Chapter

const shortestKey = 32

const missing =
  'is not set: anyone who can read the database or a backup can forge refresh tokens and read the ' +
  'secrets of second factors. Set it to a random string: ' +
  `node -p "require('node:crypto').randomBytes(32).toString('base64url')"`

/** @returns the keys that encrypt other keys; the first is used for encryption. */
export function toSecrets(
  settings: Settings<typeof secrets.variables>,
  check: Check,
): readonly string[] {
  const { variables } = secrets
  if (settings.file === '') {
    if (settings.keys.length === 0) {
      check.note(`${check.nameOf(variables.keys)} ${missing}`)
    }
    return checkKeys(variables.keys, settings.keys, check)
  }
  if (settings.keys.length > 0) {
    const name = check.nameOf(variables.keys)
    check.fault(variables.file, `must not be set together with ${name}`)
  }
  return checkKeys(variables.file, readKeys(settings.file, check), check)
}

function readKeys(path: string, check: Check): readonly string[] {
  const { file } = secrets.variables
  try {
    const keys = readFileSync(path, 'utf8').split(/[,\n]/)
    const found = keys.map((key) => key.trim()).filter((key) => key !== '')
    if (found.length === 0) check.fault(file, `names ${path}, which contains no key`)
    return found
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    check.fault(file, `cannot be read: ${reason}`)
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
