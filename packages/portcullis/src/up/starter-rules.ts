import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'

const starters = join(import.meta.dirname, '../../rules')

/** The rule files of a data folder: at the first start copies of ours, from then on its owner's. */
export function provideRules(folder: string): string {
  const rules = toRulesDirectory(folder)
  if (!existsSync(rules)) cpSync(starters, rules, { recursive: true })
  return rules
}

export function toRulesDirectory(folder: string): string {
  return join(folder, 'rules')
}
