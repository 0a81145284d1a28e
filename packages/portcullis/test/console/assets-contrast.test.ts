import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const path = join(import.meta.dirname, '../../src/web/style/tokens.css')
const tokens = new Map(
  [
    ...readFileSync(path, 'utf8').matchAll(
      /--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
    ),
  ].map(([, name = '', light = '', dark = '']) => [name, { light, dark }]),
)

const grounds = ['page', 'surface', 'raised', 'sunken']
/** Text colours and the backgrounds they are used on. */
const texts: readonly (readonly [text: string, grounds: readonly string[]])[] = [
  ['text', [...grounds, 'accent-soft', 'ok-soft', 'warn-soft', 'danger-soft']],
  ['muted', grounds],
  ['accent', grounds],
  ['accent-strong', [...grounds, 'accent-soft']],
  ['ok', [...grounds, 'ok-soft']],
  ['warn', [...grounds, 'warn-soft']],
  ['danger', [...grounds, 'danger-soft']],
  ['on-accent', ['accent', 'accent-strong']],
]
/** Non-text elements: borders of controls, lines of charts, the focus ring. */
const shapes: typeof texts = [
  ['edge', ['page', 'surface', 'raised']],
  ['accent', grounds],
  ['series-2', ['surface', 'raised']],
  ['danger', ['surface', 'raised']],
]

for (const scheme of ['light', 'dark'] as const) {
  test(`in the ${scheme} scheme text has a contrast of at least 4.5, and other elements of at least 3`, () => {
    const check = (pairs: typeof texts, least: number) => {
      for (const [front, backs] of pairs) {
        for (const back of backs) {
          const contrast = toContrast(toColour(front, scheme), toColour(back, scheme))
          assert.ok(contrast >= least, `${front} on ${back}: ${contrast.toFixed(2)}`)
        }
      }
    }
    check(texts, 4.5)
    check(shapes, 3)
  })
}

function toColour(name: string, scheme: 'light' | 'dark'): string {
  const token = tokens.get(name)
  assert.ok(token, `missing token --${name}`)
  return token[scheme]
}

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function toContrast(a: string, b: string): number {
  const [lighter = 0, darker = 0] = [toLuminance(a), toLuminance(b)].sort((x, y) => y - x)
  return (lighter + 0.05) / (darker + 0.05)
}

function toLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
