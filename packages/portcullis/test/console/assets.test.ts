import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundleWeb } from '../../bundle/bundle-web.ts'

const mostBytes = 150 * 1000

const texts = new Map<string, string>()

/** Not at the top level, where nothing keeps the process alive until the bundler has ended. */
async function bundleOnce(): Promise<void> {
  if (texts.size > 0) return
  for (const [name, text] of await bundleWeb()) texts.set(name, text)
}

test('the first page loads at most 150 kB of scripts, and any other page when compressed', async (t) => {
  await bundleOnce()
  const entries = [...collectStatic('app.js')].map((name) => texts.get(name) ?? '')
  const pages = entries
    .flatMap((text) => [...toImports(text).dynamic])
    .filter((name) => name.includes('-page-'))
  assert.ok(pages.length > 1, 'pages are split into separate files')
  assert.ok(pages.some((name) => name.startsWith('overview-')))
  for (const page of pages) {
    const names = [...collectStatic('app.js', page)]
    const parts = names.map((name) => texts.get(name) ?? '')
    const bytes = parts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const zipped = parts.reduce((sum, text) => sum + gzipSync(text).length, 0)
    t.diagnostic(`${toKb(bytes)}, compressed ${toKb(zipped)}: ${page}`)
    const bound = page.startsWith('overview-') ? bytes : zipped
    assert.ok(bound <= mostBytes, `${page}: ${bound} bytes in ${names.join(', ')}`)
  }
})

test('the command palette and the list of shortcuts are loaded on demand', async () => {
  await bundleOnce()
  const first = collectStatic('app.js')
  for (const name of ['palette', 'help']) {
    const file = [...texts.keys()].find((each) => each.startsWith(`${name}-`)) ?? ''
    assert.ok(file.endsWith('.js'), name)
    assert.ok(!first.has(file), `${file} is part of the first scripts`)
  }
})

test('editors are loaded on demand', async () => {
  await bundleOnce()
  const editors = [...texts].filter(([, text]) => text.includes('cm-editor')).map(([name]) => name)
  assert.ok(editors.length > 0)
  const pages = [...texts.keys()].filter((name) => name.includes('-page-'))
  const first = collectStatic('app.js', ...pages)
  assert.deepEqual(
    editors.filter((name) => first.has(name)),
    [],
  )
})

test('scripts and styles load nothing from other origins', async () => {
  await bundleOnce()
  // Texts may mention other origins; code and styles must not load from them.
  const loaders =
    /(?:@import\s*|url\(|\bimport\s*\(?|\bsrc=|<link[^>]+href=)\s*["']?(?:https?:)?\/\//
  for (const [name, text] of texts) assert.doesNotMatch(text, loaders, name)
  assert.ok((texts.get('style.css') ?? '') !== '')
})

/** The files that a browser loads for these files, without those that are loaded on demand. */
function collectStatic(...names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const wanted = [...names]
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (found.has(name)) continue
    found.add(name)
    const text = texts.get(name)
    assert.ok(text, `${name} is missing`)
    wanted.push(...toImports(text).static)
  }
  return found
}

interface Imports {
  readonly static: ReadonlySet<string>
  readonly dynamic: ReadonlySet<string>
}

/** Reads the imports of a file, as the bundler writes them. */
function toImports(text: string): Imports {
  const toNames = (pattern: RegExp) =>
    new Set([...text.matchAll(pattern)].map(([, name = '']) => name))
  return {
    static: toNames(/(?:\bfrom|\bimport)\s*"\.\/([\w.-]+\.js)"/g),
    dynamic: toNames(/\bimport\("\.\/([\w.-]+\.js)"\)/g),
  }
}

function toKb(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(6)} kB`
}
