import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { covered, exceptions, skippedFiles } from '../words/coverage.ts'
import { findPhrases } from '../words/find-phrases.ts'
import { phrases } from '../words/phrases.ts'
import { readTexts } from '../words/read-texts.ts'

const root = dirname(dirname(import.meta.dirname))

const find = (text: string) => findPhrases(new Map([['a.ts', text]]), phrases, [])

/** Texts to report, by the phrase that is found in them. */
const reported: Readonly<Record<string, string>> = {
  'is told': '// Every worker is told about it.',
  'told of': '/** The log is not told of it. */',
  'told by': "test('wrong options, told by name', () => {})",
  'unless told': '  --query NAME   both unless told otherwise',
  'to be had': '// Where no terminal is to be had, it is skipped.',
  'is no list': "throw new Error('it is no list')",
  'are no imports': "test('words in comments are no imports', () => {})",
  'Who stops': '// Who stops a service wants no ports.',
  nobody: '// A port that nobody listens on.',
  Whoever: '// Whoever asks first is served.',
  'Of the': '/** Of the first error. */',
  'Those of': '  /** Those of a listener. */',
  twins: 'The stricter twins of the audits.',
  'last words': '/** The last words of the process. */',
  'as it should': "throw new Error('a worker did not end as it should')",
  'is wrong with': '/** What is wrong with a value. */',
  'goes away': '// The client goes away.',
  'of its own': '// It runs in a process of its own.',
  anew: '-- The table is filled anew.',
  'for ever': '# Waits for ever.',
  'reference 8.3': '// See reference 8.3 for the reason.',
  '(R17)': '// The wording for a server of unknown age (R17).',
}

for (const [phrase, text] of Object.entries(reported)) {
  test(`reported: ${text}`, () => {
    assert.deepEqual(
      find(text).map((finding) => finding.phrase),
      [phrase],
    )
  })
}

for (const text of [
  '// There is no list, and the value is no longer used.',
  '// A buffer that is no larger than the frame.',
  'Who can sign in? Anyone who has an account.',
  '// It has its own process, and modules of its own row.',
  'const noBody = { body: null }',
  '/** The name of the first error. */',
]) {
  test(`not reported: ${text}`, () => assert.deepEqual(find(text), []))
}

test('a finding has its position and advice', () => {
  const [finding] = find('const a = 1\n  // b is no list\n')
  assert.deepEqual(finding, {
    file: 'a.ts',
    line: 2,
    column: 8,
    phrase: 'is no list',
    advice: '"is no X" reads like "there is no X"; write: is not a …',
  })
})

test('a phrase that is wrapped over two lines is found', () => {
  for (const text of [
    '/**\n * The value is\n * no list.\n */',
    '  // The value is\n  // no list.',
    '# The value is\n# no list.',
    'The value is\nno list.',
  ]) {
    const [finding] = find(text)
    assert.equal(finding?.phrase, 'is no list', text)
  }
  assert.deepEqual(find('/**\n * There is\n * no list.\n */'), [])
})

test('an exception allows a phrase in one file, and is reported if it does not occur', () => {
  const texts = new Map([
    ['a.ts', "const user = 'nobody'\n"],
    ['b.ts', "const user = 'nobody'\n"],
  ])
  const because = 'It is the name of a Unix account.'
  const found = findPhrases(texts, phrases, [
    { file: 'a.ts', phrase: 'nobody', because },
    { file: 'b.ts', phrase: 'somebody', because },
  ])
  assert.deepEqual(
    found.map(({ file, phrase, advice }) => `${file} ${phrase}: ${advice.slice(0, 30)}`),
    [
      'b.ts nobody: hides which user, client or pr',
      'b.ts somebody: this exception does not occur;',
    ],
  )
})

test('covered folders, skipped files and exceptions exist', () => {
  const paths = [...covered, ...skippedFiles, ...exceptions.map(({ file }) => file)]
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(root, path))),
    [],
  )
})

test('files of every kind are read, but no generated or installed ones', () => {
  const files = [...readTexts(root).keys()]
  for (const file of [
    '.ci/run',
    'scripts/check.ts',
    'scripts/install.mjs',
    'packages/bench-kit/README.md',
  ]) {
    assert.ok(files.includes(file), file)
  }
  assert.deepEqual(
    files.filter((file) => /\/(?:node_modules|dist|generated)\//.test(file)),
    [],
  )
})
