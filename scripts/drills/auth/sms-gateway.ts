import assert from 'node:assert/strict'
import { openAnsweringServer } from '../answering-server.ts'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type SmsModule = typeof import('../../../packages/auth/src/messages/sending/sms-channel.ts')

export const smsGateway: Drill = {
  kind: 'SMS gateway',
  package: 'auth',
  file: 'src/plugins/sms/pigeon.ts',
  source: `
import { hideAll, string } from '@portcullis/service-kit/settings/env'
import { defineGateway, isSuccess } from './gateway.ts'

export const pigeon = defineGateway({
  channels: ['sms'],
  variables: { key: string('AUTH_SMS_PIGEON_KEY', '', 'Key of Pigeon', { mask: hideAll }) },
  required: { key: 'missing Pigeon key' },
  baseUrl: 'https://sms.pigeon.example',
  toRequest({ to, text }, { key }, baseUrl) {
    return { url: \`\${baseUrl}/fly\`, body: { json: { key, to, text } } }
  },
  findRefusal({ status }) {
    return isSuccess(status) ? undefined : { reason: \`pigeon answered \${status}\`, isFinal: false }
  },
})
`,
  exported: 'pigeon',
  index: { file: 'src/plugins/sms/index.ts', list: 'gateways' },
  help: ['AUTH_SMS_PIGEON_KEY', 'The SMS gateway: pigeon'],
  async prove(copy) {
    await using server = await openAnsweringServer({})
    const config = await parseCopiedConfig(copy, {
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_SMS_PROVIDER: 'pigeon',
      AUTH_SMS_PIGEON_KEY: 'our key',
    })
    const { createSmsChannel } = await copy.load<SmsModule>('src/messages/sending/sms-channel.ts')
    const deliver = createSmsChannel({ config, baseUrl: server.url })
    const row = {
      id: 1,
      channel: 'sms' as const,
      kind: 'confirmation',
      recipient: '15550100',
      payload: { Code: '123456' },
      attempts: 1,
      created_at: '2030-01-31T12:00:00Z',
      expires_in_ms: 60_000,
    }
    await deliver(row, new AbortController().signal)
    const [request] = server.requests
    assert.equal(request?.path, '/fly')
    const body = { key: 'our key', to: '15550100', text: 'Your code is 123456' }
    assert.deepEqual(JSON.parse(request.body), body)
  },
}
