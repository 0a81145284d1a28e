import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

const read = (name: string) => readFile(join(import.meta.dirname, name), 'utf8')

test('every file in the table has a test with the number of its property', async () => {
  const rows = [...(await read('README.md')).matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)]
  const numbers = rows.map(([, number]) => Number(number))
  assert.deepEqual(
    numbers.slice(0, 42),
    Array.from({ length: 42 }, (_, at) => at + 1),
  )
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].toSorted((one, other) => one - other),
  )
  for (const [, number = '', where = ''] of rows) {
    const files = [...where.matchAll(/`([\w-]+\.test\.ts)`/g)].map(([, file = '']) => file)
    assert.ok(files.length > 0, `${number}: ${where}`)
    for (const file of files) {
      const named = new RegExp(
        `\\((?:property|properties|properties \\d+ and) ${number}(?:\\)| and )`,
      )
      assert.ok(named.test(await read(file)), `a test of property ${number} in ${file}`)
    }
  }
})
