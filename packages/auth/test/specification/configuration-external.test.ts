/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'
import { specifiedProviderIds as providerIds } from '../../src/plugins/providers/index.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { openExternalServer } from '../support/external-server.ts'
import { fragmentOf } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'

type Env = Readonly<Record<string, string>>

const faultsOf = (env: Env) => {
  const source = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth', ...env }
  return parseConfig(source).faults.map(toFaultText)
}

/** The required variables of a provider. */
const register = (id: string): Env => ({
  [`AUTH_EXTERNAL_${id.toUpperCase()}_ENABLED`]: 'true',
  [`AUTH_EXTERNAL_${id.toUpperCase()}_CLIENT_ID`]: 'id',
  [`AUTH_EXTERNAL_${id.toUpperCase()}_SECRET`]: 'secret',
  [`AUTH_EXTERNAL_${id.toUpperCase()}_REDIRECT_URI`]: 'https://auth.example/callback',
})

function assertRequired(field: string) {
  for (const id of providerIds) {
    const whole: Env = {
      ...register(id),
      [`AUTH_EXTERNAL_${id.toUpperCase()}_URL`]: 'https://provider.example',
    }
    assert.deepEqual(faultsOf(whole), [], id)
    const missing = `AUTH_EXTERNAL_${id.toUpperCase()}_${field}`
    const rest = Object.fromEntries(Object.entries(whole).filter(([each]) => each !== missing))
    assert.match(faultsOf(rest).join(), new RegExp(`^${missing}: missing`), id)
  }
}

test('provider variables in the specification', async (t) => {
  const enabled = ['discord', 'figma', 'github', 'gitlab', 'keycloak', 'slack']
  const server = await openExternalServer(t, enabled, {
    AUTH_EXTERNAL_FIGMA_SECRET: 'another secret',
    AUTH_EXTERNAL_GITLAB_URL: '',
  })
  if (!server) return
  const { body: settings } = await send(server.url, '/settings')

  await t.test(
    'Configuration › external provider identifiers: seventeen lower-case provider names',
    async () => {
      assert.equal(providerIds.length, 17)
      for (const id of providerIds) assert.match(id, /^[a-z]+$/)
      assert.deepEqual(Object.keys(settings.external), [...providerIds])
      const { answer } = await server.startFlow({ provider: 'myspace' })
      const message = 'Unsupported provider: Provider myspace could not be found'
      assert.deepEqual([answer.body.code, answer.body.msg], [400, message])
    },
  )

  await t.test(
    'Configuration › EXTERNAL_X_ENABLED: X is the upper-case provider identifier',
    async () => {
      for (const id of providerIds) {
        const isEnabled = enabled.includes(id)
        assert.equal(settings.external[id], isEnabled, id)
        const { answer } = await server.startFlow({ provider: id })
        assert.equal(answer.status, isEnabled ? 302 : 400, id)
        if (isEnabled) continue
        const message = 'Unsupported provider: provider is not enabled'
        assert.deepEqual([answer.body.code, answer.body.msg], [400, message])
      }
    },
  )

  await t.test('Configuration › EXTERNAL_X_CLIENT_ID: required when enabled', async () => {
    assertRequired('CLIENT_ID')
    const { url } = await server.startFlow({ provider: 'github' })
    assert.equal(url.searchParams.get('client_id'), server.at('github').clientId)
  })

  await t.test('Configuration › EXTERNAL_X_SECRET: required when enabled', async () => {
    assertRequired('SECRET')
    const { account } = server.at('slack').shape.example
    assert.ok(fragmentOf(await server.signInWith('slack', account))['access_token'])
    const figma = server.at('figma')
    const answer = await server.signInWith('figma', figma.shape.example.account)
    assert.equal(fragmentOf(answer)['access_token'], undefined)
    assert.deepEqual(figma.refusals, ['wrong credentials'])
  })

  await t.test('Configuration › EXTERNAL_X_REDIRECT_URI: required when enabled', async () => {
    assertRequired('REDIRECT_URI')
    const { url } = await server.startFlow({ provider: 'discord' })
    assert.equal(url.searchParams.get('redirect_uri'), 'https://auth.example/callback')
  })

  await t.test(
    'Configuration › EXTERNAL_X_URL: one has a public default, the other must be set',
    async () => {
      const { url: gitlab } = await server.startFlow({ provider: 'gitlab' })
      assert.equal(`${gitlab.origin}${gitlab.pathname}`, 'https://gitlab.com/oauth/authorize')
      const { url: keycloak } = await server.startFlow({ provider: 'keycloak' })
      assert.ok(keycloak.href.startsWith(`${server.at('keycloak').url}/protocol/`))
      assert.deepEqual(faultsOf(register('gitlab')), [])
      const [fault = ''] = faultsOf(register('keycloak'))
      assert.match(fault, /^AUTH_EXTERNAL_KEYCLOAK_URL must be the URL of your keycloak/)
    },
  )
})
