import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = import.meta.dirname
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

interface Row {
  /** The name of the test. */
  readonly name: string
  readonly where: string
}

/** The rows of all tables below a heading. */
function parseRows(text: string): readonly Row[] {
  const sections = text.split(/^## /m).slice(1)
  return sections.flatMap((section) => {
    const [heading] = section.split('\n')
    return [...section.matchAll(/^\| (.+) \| (.+) \|$/gm)]
      .map(([, sentence, where = '']) => ({ name: `${heading} › ${sentence}`, where }))
      .filter(({ where }) => where !== 'where')
  })
}

/** All quoted test names in a file. */
function namesIn(file: string): readonly string[] {
  return [...read(file).matchAll(/'([A-Z][\w -]+ › [^']+)'/g)].map(([, name = '']) => name)
}

const rows = parseRows(read('README.md'))
const byName = new Map(rows.map((row) => [row.name, row]))
const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
const tests = files.flatMap((file) => namesIn(file).map((name) => ({ name, file })))

test('every row of the list names its test, another row, or a reason', () => {
  assert.ok(rows.length > 250, `${rows.length} rows`)
  const fileOf = new Map(tests.map(({ name, file }) => [name, file]))
  for (const { name, where } of rows) {
    const [, file] = /^\[(.+\.test\.ts)\]\(\1\)$/.exec(where) ?? []
    const [, other] = /^see (.+)$/.exec(where) ?? []
    if (file !== undefined) assert.equal(fileOf.get(name), file, name)
    else if (other !== undefined) assert.match(byName.get(other)?.where ?? '', /^\[/, name)
    else assert.match(where, /^not testable: \S/, name)
  }
})

test('every test in this folder has a row, and no name is used twice', () => {
  const names = tests.map(({ name }) => name)
  assert.deepEqual(
    names.filter((name) => !byName.has(name)),
    [],
  )
  assert.equal(new Set(names).size, names.length)
  assert.equal(byName.size, rows.length)
})
