/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { specifiedProviderIds } from '../../../src/plugins/providers/index.ts'
import { openExternalServer } from '../../support/external-server.ts'
import { send } from '../../support/http-client.ts'

test('GET /settings lists seventeen providers, then the enabled ones among the others', async (t) => {
  const server = await openExternalServer(t, ['github', 'zoom', 'linkedin_oidc'])
  if (!server) return
  const { body } = await send(server.url, '/settings')
  assert.equal(specifiedProviderIds.length, 17)
  assert.deepEqual(Object.keys(body.external), [...specifiedProviderIds, 'linkedin_oidc', 'zoom'])
  const enabled = Object.keys(body.external).filter((id) => body.external[id])
  assert.deepEqual(enabled, ['github', 'linkedin_oidc', 'zoom'])
})
