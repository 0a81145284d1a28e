// Loads rule files in a separate process.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { parseInWorker } from '../../src/rules/yaml/parse-thread.ts'
import { toRuleFile } from '../rule-files.ts'

export const readers = ['block reader', 'yaml library'] as const
export type Reader = (typeof readers)[number]

export interface YamlJob {
  readonly reader: Reader
  readonly rules: number
}

export interface YamlOutcome {
  readonly cpuSeconds: number
  readonly wallSeconds: number
  readonly bytes: number
}

answerParent(async ({ reader, rules }: YamlJob): Promise<YamlOutcome> => {
  const text = reader === 'block reader' ? toRuleFile(rules) : leaveToLibrary(toRuleFile(rules))
  const [start, startMs] = [process.cpuUsage(), performance.now()]
  const loaded = await parseInWorker([{ name: 'rules.yaml', text }], { mergeDomains: false })
  const wallSeconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(start)
  const [fault] = loaded.faults
  if (fault) throw new Error(fault.message)
  return { cpuSeconds: (user + system) / 1e6, wallSeconds, bytes: text.length }
})

/** A tag in the first line makes the block reader leave the whole text to the library. */
function leaveToLibrary(text: string): string {
  return text.replace('domain: ', 'domain: !!str ')
}
