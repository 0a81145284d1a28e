import assert from 'node:assert/strict'
import { openAnsweringServer } from '../answering-server.ts'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type ProvidersModule =
  typeof import('../../../packages/auth/src/plugins/providers/create-providers.ts')

export const provider: Drill = {
  kind: 'OAuth provider',
  package: 'auth',
  file: 'src/plugins/providers/pigeon.ts',
  source: `
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue, toOneEmail, toProfile } from './oauth/profile-parts.ts'

export const pigeon = defineOAuth2({
  url: 'https://pigeon.example',
  authorizeUrl: ({ url }) => \`\${url}/authorize\`,
  tokenUrl: ({ url }) => \`\${url}/token\`,
  scopes: ['email'],
  async readProfile({ setup: { at }, get }) {
    const user = await get(\`\${at.apiUrl}/me\`)
    return toProfile({
      id: user['id'],
      issuer: at.url,
      emails: toOneEmail(user['email'], isTrue(user['verified'])),
    })
  },
})
`,
  exported: 'pigeon',
  index: { file: 'src/plugins/providers/index.ts', list: 'providers' },
  help: ['AUTH_EXTERNAL_PIGEON_ENABLED', 'AUTH_EXTERNAL_PIGEON_CLIENT_ID'],
  async prove(copy) {
    await using server = await openAnsweringServer({
      access_token: 'token',
      id: 'coo',
      email: 'coo@pigeon.example',
      verified: true,
    })
    const { external } = await parseCopiedConfig(copy, {
      AUTH_EXTERNAL_PIGEON_ENABLED: 'true',
      AUTH_EXTERNAL_PIGEON_CLIENT_ID: 'our id',
      AUTH_EXTERNAL_PIGEON_SECRET: 'our secret',
      AUTH_EXTERNAL_PIGEON_REDIRECT_URI: 'https://auth.example/callback',
      AUTH_EXTERNAL_PIGEON_URL: server.url,
    })
    const path = 'src/plugins/providers/create-providers.ts'
    const { createProviders } = await copy.load<ProvidersModule>(path)
    const providers = createProviders({
      config: external,
      iosBundleId: '',
      timeoutMs: 5_000,
      now: Date.now,
    })
    const pigeon = providers.find('pigeon')
    const target = await pigeon.start({ state: 'state', scopes: [], parameters: {} })
    assert.ok(target.url.startsWith(`${server.url}/authorize?client_id=our+id`), target.url)
    const back = { parameters: { code: 'code' }, memo: target.memo }
    const { id, emails } = await pigeon.readProfile(await pigeon.exchange(back), back)
    assert.equal(id, 'coo')
    assert.deepEqual(emails, [{ email: 'coo@pigeon.example', isVerified: true, isPrimary: true }])
  },
}
