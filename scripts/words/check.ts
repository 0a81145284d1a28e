// Reports phrases that are hard to understand, in the folders that coverage.ts lists:
//
//   node scripts/words/check.ts

import { dirname } from 'node:path'
import { exceptions } from './coverage.ts'
import { findPhrases } from './find-phrases.ts'
import { phrases } from './phrases.ts'
import { readTexts } from './read-texts.ts'

const root = dirname(dirname(import.meta.dirname))
const findings = findPhrases(readTexts(root), phrases, exceptions)
for (const { file, line, column, phrase, advice } of findings) {
  console.log(`${file}:${line}:${column}  "${phrase}"\n  ${advice}`)
}
if (findings.length > 0) {
  console.log(
    `${findings.length} ${findings.length === 1 ? 'phrase' : 'phrases'}. If a use is right, add it to ` +
      'the exceptions in scripts/words/coverage.ts.',
  )
  process.exitCode = 1
}
