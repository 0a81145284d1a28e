import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { storePlugins } from '../../src/counters/plugins.ts'

for (const { kind } of storePlugins) {
  test(`the requirements for counter stores are checked for ${kind}`, () => {
    const folder = join(import.meta.dirname, kind)
    const texts = readdirSync(folder)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
    assert.ok(texts.some((text) => text.includes("from '../contract.ts'")))
  })
}

test('no two stores share a value of BACKEND_TYPE or a chapter of variables', () => {
  for (const names of [
    storePlugins.flatMap(({ backendTypes }) => backendTypes),
    storePlugins.flatMap(({ chapters }) => Object.keys(chapters)),
  ]) {
    assert.deepEqual(names, [...new Set(names)])
  }
})
