// Reports every import that the lists in allowed-imports/ do not allow, and every import cycle:
//
//   node scripts/boundaries/check.ts

import { dirname } from 'node:path'
import { boundaries } from './allowed-imports/index.ts'
import { findViolations } from './find-violations.ts'
import { readSources } from './read-sources.ts'

const root = dirname(dirname(import.meta.dirname))
const violations = findViolations(readSources(root), boundaries)
let shown = ''
for (const { file, line, column, text, allowed = '', fix } of violations) {
  // Several imports in one module often have the same reason.
  const advice = `${allowed && `  ${allowed}\n`}  Fix: ${fix}\n`
  const isRepeated = shown === `${file}\n${advice}`
  console.log(`${file}:${line}:${column}\n  ${text}\n${isRepeated ? '' : advice}`)
  shown = `${file}\n${advice}`
}
if (violations.length > 0) {
  console.log(`${violations.length} ${violations.length === 1 ? 'violation' : 'violations'}.`)
  process.exitCode = 1
}
