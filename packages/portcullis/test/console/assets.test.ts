import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundleWeb } from '../../bundle/bundle-web.ts'

const mostBytes = 150 * 1000

test('all scripts together are at most 150 kB when compressed', async (t) => {
  const texts = await bundleWeb()
  const sizes = [...texts]
    .filter(([name]) => name.endsWith('.js'))
    .map(([name, text]) => ({ name, bytes: gzipSync(text).length }))
    .sort((a, b) => b.bytes - a.bytes)
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { name, bytes } of sizes) t.diagnostic(`${toKb(bytes)} ${name}`)
  t.diagnostic(`${toKb(total)} in total`)
  assert.ok(sizes.length > 1, 'pages are split into separate files')
  assert.ok(total <= mostBytes, `${total} bytes`)

  const style = gzipSync(texts.get('style.css') ?? '').length
  t.diagnostic(`${toKb(style)} style.css`)
  assert.ok(style > 0)

  // Texts may mention other origins; code and styles must not load from them.
  const loaders =
    /(?:@import\s*|url\(|\bimport\s*\(?|\bsrc=|<link[^>]+href=)\s*["']?(?:https?:)?\/\//
  for (const [name, text] of texts) assert.doesNotMatch(text, loaders, name)
})

function toKb(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(6)} kB`
}
