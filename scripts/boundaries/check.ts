// Reports every import that the lists in allowed-imports/ do not allow, and every import circle:
//
//   node scripts/boundaries/check.ts

import { dirname } from 'node:path'
import { boundaries } from './allowed-imports/index.ts'
import { findViolations } from './find-violations.ts'
import { readSources } from './read-sources.ts'

const root = dirname(dirname(import.meta.dirname))
const violations = findViolations(readSources(root), boundaries)
for (const { file, line, column, text, fix } of violations) {
  console.log(`${file}:${line}:${column}\n  ${text}\n  Fix: ${fix}\n`)
}
if (violations.length > 0) {
  console.log(`${violations.length} ${violations.length === 1 ? 'violation' : 'violations'}.`)
  process.exitCode = 1
}
