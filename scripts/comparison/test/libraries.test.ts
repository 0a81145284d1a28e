// The comparison itself is not run here, since it installs other libraries. These tests check that
// its parts fit together.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { graphqlServers, limiters } from '../libraries.ts'

const programs = join(import.meta.dirname, '..', 'programs')
const page = readFileSync(join(import.meta.dirname, '../../../docs/comparison.md'), 'utf8')
const areas = { limiter: limiters, graphql: graphqlServers }

for (const [area, libraries] of Object.entries(areas)) {
  test(`${area}: every package has an exact version`, () => {
    for (const { packages, extras, isOurs } of libraries) {
      for (const name of [...(isOurs ? [] : packages), ...extras]) {
        assert.match(name, /.@\d+\.\d+\.\d+$/)
      }
    }
  })

  test(`${area}: every library has a program for the task, and a subject for each probe`, async () => {
    const { probes } = await import(join(programs, area, 'probes.mjs'))
    for (const { id } of libraries) {
      assert.ok(existsSync(join(programs, area, 'task', `${id}.mjs`)), id)
      const features = readFileSync(join(programs, area, 'features', `${id}.mjs`), 'utf8')
      const names = [...features.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name)
      assert.deepEqual(
        new Set(names.slice(-Object.keys(probes).length)),
        new Set(Object.keys(probes)),
      )
    }
  })
}

test('the page has an end marker for each section', () => {
  const names = [...page.matchAll(/^<!-- ([a-z ]+) -->$/gm)].map(([, name]) => name)
  assert.equal(names.length, 10)
  for (const name of names) assert.ok(page.includes(`\n<!-- /${name} -->\n`), name)
})
