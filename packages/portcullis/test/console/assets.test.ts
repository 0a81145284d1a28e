import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundleWeb } from '../../bundle/bundle-web.ts'

const mostBytes = 150 * 1000

test('the first page loads at most 150 kB of compressed scripts, and all pages without editors no more', async (t) => {
  const texts = await bundleWeb()
  const sizes = [...texts]
    .filter(([name]) => name.endsWith('.js'))
    .map(([name, text]) => ({ name, text, bytes: gzipSync(text).length }))
    .sort((a, b) => b.bytes - a.bytes)
  const sum = (names: ReadonlySet<string>) =>
    sizes.reduce((total, { name, bytes }) => total + (names.has(name) ? bytes : 0), 0)
  for (const { name, bytes } of sizes) t.diagnostic(`${toKb(bytes)} ${name}`)
  assert.ok(sizes.length > 1, 'pages are split into separate files')

  // Overview is the first page. It is loaded on demand, like every page.
  const overview = sizes.find(({ text }) => text.includes('Rate limit decisions'))?.name ?? ''
  assert.notEqual(overview, '')
  const first = findImports(texts, ['app.js', overview])
  t.diagnostic(`${toKb(sum(first))} for the first page`)
  assert.ok(sum(first) <= mostBytes, `${sum(first)} bytes`)

  // The editors are the only scripts that may be large.
  const editors = sizes.filter(({ text }) => text.includes('cm-editor')).map(({ name }) => name)
  assert.ok(editors.length > 0)
  const pages = sizes.filter(({ name }) => !isEditorPart(texts, name, editors))
  const others = new Set(pages.map(({ name }) => name))
  t.diagnostic(`${toKb(sum(others))} without editors`)
  assert.ok(sum(others) <= mostBytes, `${sum(others)} bytes`)
  for (const name of editors) assert.ok(!first.has(name), `${name} is loaded with the first page`)

  const style = gzipSync(texts.get('style.css') ?? '').length
  t.diagnostic(`${toKb(style)} style.css`)
  assert.ok(style > 0)

  // Texts may mention other origins; code and styles must not load from them.
  const loaders =
    /(?:@import\s*|url\(|\bimport\s*\(?|\bsrc=|<link[^>]+href=)\s*["']?(?:https?:)?\/\//
  for (const [name, text] of texts) assert.doesNotMatch(text, loaders, name)
})

/** The files that are loaded together with the given ones. */
function findImports(texts: ReadonlyMap<string, string>, names: readonly string[]): Set<string> {
  const found = new Set<string>()
  const add = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    // Without parentheses: dynamic imports are loaded later.
    for (const [, other = ''] of (texts.get(name) ?? '').matchAll(
      /(?:from|import)"\.\/([^"]+\.js)"/g,
    )) {
      add(other)
    }
  }
  for (const name of names) add(name)
  return found
}

/** Whether a script is only loaded together with an editor. */
function isEditorPart(
  texts: ReadonlyMap<string, string>,
  name: string,
  editors: readonly string[],
): boolean {
  const needsEditor = (file: string) => {
    const imports = findImports(texts, [file])
    return editors.some((editor) => imports.has(editor))
  }
  if (needsEditor(name)) return true
  const importers = [...texts.keys()].filter(
    (other) => other !== name && findImports(texts, [other]).has(name),
  )
  return importers.length > 0 && importers.every(needsEditor)
}

function toKb(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(6)} kB`
}
