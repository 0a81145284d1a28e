import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAuthenticatorName } from '../../../src/features/passkeys/registration.ts'

test('well-known authenticators are named; others are called "Passkey"', () => {
  const names = {
    'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4': 'Google Password Manager',
    'FBFC3007-154E-4ECC-8C0B-6E020557D7BD': 'iCloud Keychain',
    '00000000-0000-0000-0000-000000000000': 'Passkey',
    'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee': 'Passkey',
    constructor: 'Passkey',
  }
  for (const [aaguid, name] of Object.entries(names)) {
    assert.equal(findAuthenticatorName(aaguid), name)
  }
})
