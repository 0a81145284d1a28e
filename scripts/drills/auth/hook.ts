import assert from 'node:assert/strict'
import { openAnsweringServer } from '../answering-server.ts'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type HooksModule = typeof import('../../../packages/auth/src/plugins/hooks/create-hooks.ts')
type HookModule = typeof import('../../../packages/auth/src/plugins/hooks/hook.ts')
/** The hook that only the copy has. */
type PigeonHook = ReturnType<HookModule['createHookCall']>

export const hook: Drill = {
  kind: 'hook',
  package: 'auth',
  file: 'src/plugins/hooks/pigeon-landed.ts',
  source: `
import { defineDecision } from './hook.ts'

export const pigeonLanded = defineDecision<{ readonly ring: string }>({
  variable: 'PIGEON_LANDED',
  purpose: 'decides on pigeons that have landed',
  name: 'pigeon-landed',
})
`,
  exported: 'pigeonLanded',
  index: { file: 'src/plugins/hooks/index.ts', list: 'hookDefinitions' },
  help: ['AUTH_HOOK_PIGEON_LANDED_ENABLED', 'AUTH_HOOK_PIGEON_LANDED_SECRETS'],
  async prove(copy) {
    await using server = await openAnsweringServer({ decision: 'reject', message: 'not here' })
    const { hooks: config } = await parseCopiedConfig(copy, {
      AUTH_HOOK_PIGEON_LANDED_ENABLED: 'true',
      AUTH_HOOK_PIGEON_LANDED_URI: `${server.url}/landed`,
    })
    const { createHooks } = await copy.load<HooksModule>('src/plugins/hooks/create-hooks.ts')
    const hooks: Readonly<Record<string, unknown>> = createHooks({
      config,
      db: { transaction: () => assert.fail() },
      now: Date.now,
      log: { warning: () => assert.fail() },
    })
    const pigeonLanded = hooks['pigeonLanded'] as PigeonHook
    const verdict = await pigeonLanded({ ring: '42' }, { ip: '192.0.2.1' })
    assert.deepEqual(verdict, { isRejected: true, message: 'not here', logsUserOut: false })
    assert.equal(JSON.parse(server.requests[0]?.body ?? '{}').ring, '42')
  },
}
