import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countCodeLines,
  replaceSection,
  toKilobytes,
  toMarkdownTable,
  toRatioCell,
} from '../page.ts'

test('a table has a line for its head, one below it, and one for each row', () => {
  assert.equal(
    toMarkdownTable(
      ['', 'a', 'b'],
      [
        ['CPU', '1', '2'],
        ['memory', '3', '4'],
      ],
    ),
    '|  | a | b |\n|---|---|---|\n| CPU | 1 | 2 |\n| memory | 3 | 4 |',
  )
})

test('only the text between the markers of a section is replaced', () => {
  const page = 'before\n<!-- one -->\nold\n<!-- /one -->\n<!-- two -->\nkept\n<!-- /two -->\n'
  const replaced = page.replace('old', 'new')
  assert.equal(replaceSection(page, 'one', 'new'), replaced)
  assert.equal(replaceSection(replaced, 'one', 'new'), replaced)
})

test('an empty section gets its content', () => {
  const page = '<!-- one -->\n<!-- /one -->\n'
  assert.equal(replaceSection(page, 'one', 'new'), '<!-- one -->\nnew\n<!-- /one -->\n')
})

test('a page without the section is refused by name', () => {
  assert.throws(() => replaceSection('<!-- one -->\n', 'one', ''), /no section "one"/)
  assert.throws(() => replaceSection('', 'two', ''), /no section "two"/)
})

test('blank lines and comments are not counted as code', () => {
  assert.equal(countCodeLines("// why\nimport 'a'\n\n  // more\nrun() // now\n"), 2)
})

test('figures have about three digits', () => {
  assert.equal(toRatioCell(1.234, 0.456), '1.23 × (0.46 µs)')
  assert.equal(toRatioCell(12.34, 45.67), '12.3 × (45.7 µs)')
  assert.equal(toRatioCell(0.5, 456.7), '0.50 × (457 µs)')
  assert.equal(toKilobytes(12_345), '12.3 kB')
  assert.equal(toKilobytes(1_234_567), '1235 kB')
})
