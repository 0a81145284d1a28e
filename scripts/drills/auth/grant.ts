import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type TokensModule =
  typeof import('../../../packages/auth/src/features/oauth-server/endpoints/tokens.ts')
type MetadataModule =
  typeof import('../../../packages/auth/src/features/oauth-server/endpoints/metadata.ts')
type ClientsModule = typeof import('../../../packages/auth/src/features/oauth-clients/clients.ts')
type ServicesModule = typeof import('../../../packages/auth/src/create-services.ts')
type Settings = Parameters<ServicesModule['createServices']>[0]
type Call = Parameters<TokensModule['oauthToken']['handle']>[0]

const grantType = 'urn:example:pigeon'

export const grant: Drill = {
  kind: 'grant of the OAuth server',
  package: 'auth',
  file: 'src/features/oauth-server/grants/pigeon.ts',
  source: `
import type { Grant } from './grant.ts'

export const pigeon: Grant = {
  name: '${grantType}',
  isTrusted: true,
  parameters: { ring: 'The number on the ring of the pigeon' },
  issue: async (_services, { parameters }) => ({
    answer: {
      access_token: \`token of \${parameters['ring']}\`,
      token_type: 'bearer',
      expires_in: 60,
      scope: '',
    },
  }),
}
`,
  exported: 'pigeon',
  index: { file: 'src/features/oauth-server/grants/index.ts', list: 'grants' },
  help: [],
  async prove(copy) {
    const config = await parseCopiedConfig(copy, {
      AUTH_OAUTH_SERVER_ENABLED: 'true',
      AUTH_OAUTH_SERVER_ALLOW_CLIENT_ID_METADATA: 'false',
    })
    const client = {
      id: '00000000-0000-4000-8000-000000000000',
      ...{ client_type: 'public', token_endpoint_auth_method: 'none', metadata_url: null },
      ...{ grant_types: [grantType], redirect_uris: [], scope: '' },
    }
    const { createServices } = await copy.load<ServicesModule>('src/create-services.ts')
    const services = createServices({
      ...{ config, version: '', now: Date.now, wakeMessages: () => {} },
      db: { run: async () => [client] },
      keys: { ring: () => ({}) },
      log: {},
    } as unknown as Settings)

    const path = 'src/features/oauth-server/endpoints'
    const { oauthToken } = await copy.load<TokensModule>(`${path}/tokens.ts`)
    assert.match(JSON.stringify(oauthToken.body), /The number on the ring of the pigeon/)
    const call = {
      body: { grant_type: grantType, client_id: client.id, ring: '42' },
      ...{ header: () => undefined, proven: {}, client: { ip: '192.0.2.1', userAgent: '' } },
    } as unknown as Call
    const { body } = await oauthToken.handle(call, services)
    assert.equal(Object(body).access_token, 'token of 42')

    const { openIdConfiguration } = await copy.load<MetadataModule>(`${path}/metadata.ts`)
    const metadata = await openIdConfiguration.handle(call, services)
    assert.ok(Object(metadata.body).grant_types_supported.includes(grantType))

    const { createClient } = await copy.load<ClientsModule>('src/features/oauth-clients/clients.ts')
    const admin = { adminRole: 'admin', ip: '192.0.2.1' }
    const fields = { redirect_uris: [], grant_types: [grantType] }
    const created = await createClient(services, { ...fields, client_type: 'confidential' }, admin)
    assert.deepEqual(created.grant_types, [grantType])
    await assert.rejects(
      createClient(services, { ...fields, client_type: 'public' }, admin),
      new RegExp(`The grant type ${grantType} needs a confidential client`),
    )
    await assert.rejects(
      createClient(services, { ...fields, grant_types: ['urn:example:owl'] }, admin),
      new RegExp(`must only contain ${grantType}, authorization_code`),
    )
  },
}
