import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundleWeb } from '../../bundle/bundle-web.ts'

const mostBytes = 150 * 1000

test('all scripts of the page together have at most 150 kB when packed', async (t) => {
  const texts = await bundleWeb()
  const sizes = [...texts]
    .filter(([name]) => name.endsWith('.js'))
    .map(([name, text]) => ({ name, bytes: gzipSync(text).length }))
    .sort((a, b) => b.bytes - a.bytes)
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { name, bytes } of sizes) t.diagnostic(`${toKb(bytes)} ${name}`)
  t.diagnostic(`${toKb(total)} altogether`)
  assert.ok(sizes.length > 1, 'pages come apart from each other')
  assert.ok(total <= mostBytes, `${total} bytes`)

  const style = gzipSync(texts.get('style.css') ?? '').length
  t.diagnostic(`${toKb(style)} style.css`)
  assert.ok(style > 0)

  // Text that names other origins is fine; code and styles that would load from them are not.
  const loaders =
    /(?:@import\s*|url\(|\bimport\s*\(?|\bsrc=|<link[^>]+href=)\s*["']?(?:https?:)?\/\//
  for (const [name, text] of texts) assert.doesNotMatch(text, loaders, name)
})

function toKb(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(6)} kB`
}
