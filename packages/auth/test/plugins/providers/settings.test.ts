/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../../src/config/config.ts'
import { providerIds } from '../../../src/plugins/providers/index.ts'
import { testEnvironment } from '../../support/auth-server.ts'

const faultsOf = (url: string) => {
  const { faults } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://db.example/auth',
    AUTH_EXTERNAL_AZURE_ENABLED: 'true',
    AUTH_EXTERNAL_AZURE_CLIENT_ID: 'id',
    AUTH_EXTERNAL_AZURE_SECRET: 'secret',
    AUTH_EXTERNAL_AZURE_REDIRECT_URI: 'https://auth.example/callback',
    AUTH_EXTERNAL_AZURE_URL: url,
  })
  return faults.map(toFaultText)
}

test('an azure tenant is configured by its id, which ID tokens contain', () => {
  const microsoft = 'https://login.microsoftonline.com'
  const id = '6b8b8f3c-1f0a-4c3e-9a53-0d6a4b1f2e70'
  for (const tenant of [id, `${id}/`, 'common', 'organizations', 'consumers']) {
    assert.deepEqual(faultsOf(`${microsoft}/${tenant}`), [], tenant)
  }
  assert.deepEqual(faultsOf(''), [])
  assert.deepEqual(faultsOf(`https://${id}.ciamlogin.com/${id}`), [])
  for (const tenant of ['contoso.onmicrosoft.com', `${id}/v2.0`, '']) {
    const [fault = ''] = faultsOf(`${microsoft}/${tenant}`)
    assert.match(fault, /^AUTH_EXTERNAL_AZURE_URL=.*: must end with the ID of your tenant/, tenant)
  }
})

test('setting a URL for Apple or Google has no effect and is reported', () => {
  for (const id of ['apple', 'google'] as const) {
    const name = `AUTH_EXTERNAL_${id.toUpperCase()}_URL`
    const { config, faults, notes } = parseConfig({
      ...testEnvironment,
      DATABASE_URL: 'postgres://db.example/auth',
      [name]: 'https://elsewhere.example',
    })
    assert.deepEqual(faults, [])
    assert.equal(config.external[id].url, '')
    assert.ok(
      notes.includes(`${name} has no effect, because the addresses of this provider are fixed`),
      notes.join(),
    )
  }
})

test('every provider is configured by its name in capitals, also with the prefix of Supabase Auth', () => {
  const base = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth' }
  for (const id of providerIds) {
    for (const prefix of ['AUTH', 'GOTRUE']) {
      const name = `${prefix}_EXTERNAL_${id.toUpperCase()}`
      const env = {
        [`${name}_ENABLED`]: 'true',
        [`${name}_CLIENT_ID`]: 'first,second',
        [`${name}_SECRET`]: 'secret',
        [`${name}_REDIRECT_URI`]: 'https://auth.example/callback',
        [`${name}_EMAIL_OPTIONAL`]: 'true',
        [`${name}_SKIP_NONCE_CHECK`]: 'true',
        ...(id === 'keycloak' && { [`${name}_URL`]: 'https://sso.example/realms/main' }),
      }
      const { config, faults } = parseConfig({ ...base, ...env })
      assert.deepEqual(faults.map(toFaultText), [], name)
      const { url: _, ...set } = config.external[id]
      assert.deepEqual(set, {
        enabled: true,
        clientIds: ['first', 'second'],
        secret: 'secret',
        redirectUri: 'https://auth.example/callback',
        apiUrl: '',
        isEmailOptional: true,
        skipsNonce: true,
      })
      const others = providerIds.filter((other) => other !== id)
      assert.ok(
        others.every((other) => !config.external[other].enabled),
        name,
      )
      for (const field of ['CLIENT_ID', 'SECRET', 'REDIRECT_URI']) {
        const { faults } = parseConfig({ ...base, ...env, [`${name}_${field}`]: '' })
        assert.match(faults.map(toFaultText).join(), /missing (OAuth|redirect)/, `${name}_${field}`)
      }
    }
  }
})
