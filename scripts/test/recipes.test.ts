// Checks that docs/recipes shows the code of examples/recipes, which other tests run.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

const root = dirname(dirname(import.meta.dirname))
const pages = globSync('docs/recipes/*.md', { cwd: root }).sort()
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** A link to a file on its own line, followed by a block with the content of the file. */
const shownFile = /^\[`[^`]+`\]\(([^)]+)\)\n\n```\w+\n(.*?)^```$/gms

test('a recipe shows its files as they are', () => {
  for (const page of pages) {
    const text = read(page)
    const expected = text.replaceAll(shownFile, (shown, link: string, code: string) => {
      const content = read(normalize(join(dirname(page), link)))
      return `${shown.slice(0, shown.length - code.length - 3)}${content}\`\`\``
    })
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(root, page), expected)
    assert.equal(
      read(page),
      expected,
      `${page} is out of date: run UPDATE_DOCS=1 npm test -- scripts/test/recipes.test.ts`,
    )
  }
})

test('every file of examples/recipes is shown once', () => {
  const shown = pages.flatMap((page) =>
    [...read(page).matchAll(shownFile)].map(([, link = '']) =>
      normalize(join(dirname(page), link)),
    ),
  )
  const files = globSync('examples/recipes/**/*.{ts,tsx,yaml}', { cwd: root })
  assert.ok(files.length > 10)
  assert.deepEqual(shown.toSorted(), files.toSorted())
})

test('every recipe is listed, and has a test and the usual sections', () => {
  const index = read('docs/recipes/README.md')
  for (const page of pages) {
    const name = basename(page, '.md')
    if (name === 'README') continue
    assert.ok(index.includes(`](${name}.md)`), `docs/recipes/README.md does not list ${name}`)
    assert.ok(existsSync(join(root, `packages/auth/test/recipes/${name}.test.ts`)), name)
    assert.match(read(page), /^## \d\. Check that it works$/m, page)
    assert.match(read(page), /^## What goes wrong$/m, page)
  }
})
