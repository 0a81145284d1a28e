import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

export const statisticsSink: Drill = {
  kind: 'statistics sink',
  package: 'ratelimit',
  file: 'src/stats/sinks/ledger.ts',
  source: `
import { boolean, type Chapter, string } from '@portcullis/service-kit/settings/env'
import type { SinkPlugin } from './sink.ts'

const chapter = {
  title: 'Statistics to a ledger',
  variables: {
    isUsed: boolean('USE_LEDGER', false, 'Whether statistics go to a ledger'),
    page: string('LEDGER_PAGE', 'first', 'The page to write to'),
  },
} satisfies Chapter

export const ledger: SinkPlugin<
  { ledger: typeof chapter },
  { readonly kind: 'ledger'; readonly page: string }
> = {
  kind: 'ledger',
  chapters: { ledger: chapter },
  choice: chapter.variables.isUsed,
  isChosen: (settings) => settings.ledger.isUsed,
  toConfig: (settings) => ({ kind: 'ledger', page: settings.ledger.page }),
  open: ({ page }) => ({ address: page, flush: async () => {}, async [Symbol.asyncDispose]() {} }),
}
`,
  exported: 'ledger',
  index: { file: 'src/stats/sinks/index.ts', list: 'sinks' },
  help: ['USE_LEDGER', 'LEDGER_PAGE'],
  async prove(copy) {
    const env = { USE_STATSD: 'false', USE_LEDGER: 'true', LEDGER_PAGE: 'second' }
    const { stats } = await parseCopiedConfig(copy, env)
    assert.deepEqual({ ...stats.sink }, { kind: 'ledger', page: 'second' })
  },
}
