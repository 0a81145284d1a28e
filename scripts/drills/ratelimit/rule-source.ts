import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

export const ruleSource: Drill = {
  kind: 'rule source',
  package: 'ratelimit',
  file: 'src/rules/sources/oracle.ts',
  source: `
import { type Chapter, string } from '@portcullis/service-kit/settings/env'
import type { RuleSourcePlugin } from './source.ts'

const chapter = {
  title: 'Rules from an oracle',
  variables: { temple: string('ORACLE_TEMPLE', 'Delphi', 'Where the oracle is') },
} satisfies Chapter

export const oracle: RuleSourcePlugin<
  { oracle: typeof chapter },
  { readonly kind: 'oracle'; readonly temple: string }
> = {
  kind: 'oracle',
  configType: 'ORACLE',
  place: 'an oracle',
  chapters: { oracle: chapter },
  toConfig: (settings) => ({ kind: 'oracle', temple: settings.oracle.temple }),
  open: async () => ({ firstAttempt: Promise.resolve(), async [Symbol.asyncDispose]() {} }),
}
`,
  exported: 'oracle',
  index: { file: 'src/rules/sources/index.ts', list: 'ruleSources' },
  help: ['ORACLE_TEMPLE', 'an oracle'],
  async prove(copy) {
    assert.equal((await parseCopiedConfig(copy, {})).rules.source.kind, 'file')
    const { rules } = await parseCopiedConfig(copy, {
      CONFIG_TYPE: 'ORACLE',
      ORACLE_TEMPLE: 'Dodona',
    })
    assert.deepEqual({ ...rules.source }, { kind: 'oracle', temple: 'Dodona' })
  },
}
