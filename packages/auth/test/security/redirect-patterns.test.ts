import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { compileGlob } from '../../src/config/redirect-patterns.ts'
import { createRedirects } from '../../src/features/redirects/redirects.ts'
import { createRandom } from '../support/random.ts'

/** A slow reference implementation of glob patterns with backtracking regular expressions. */
function toOracle(glob: string): RegExp {
  const parts: Readonly<Record<string, string>> = {
    '**': '.*',
    '*': '[^./]*',
    '?': '[^./]',
    '{': '(?:',
    '}': ')',
    ',': '|',
    '[ab]': '[ab]',
    '[!a]': '[^a]',
    '[a-b]': '[a-b]',
    '\\*': '\\*',
    '.': '\\.',
    '/': '\\/',
  }
  const tokens = glob.match(/\*\*|\\\*|\[.*?\]|./gs) ?? []
  let depth = 0
  const source = tokens.map((token) => {
    depth += token === '{' ? 1 : token === '}' ? -1 : 0
    return token === ',' && depth === 0 ? ',' : (parts[token] ?? token)
  })
  return new RegExp(`^(?:${source.join('')})$`, 's')
}

/** The alphabet is small, so that many texts match. */
function toRandomGlob(below: (limit: number) => number, depth = 0): string {
  const tokens = ['a', 'b', '.', '/', '*', '**', '?', '[ab]', '[!a]', '[a-b]', '\\*', ',']
  return Array.from({ length: below(5) }, () => {
    if (depth < 2 && below(6) === 0) {
      const alternatives = Array.from({ length: 1 + below(3) }, () =>
        toRandomGlob(below, depth + 1).replaceAll(',', 'b'),
      )
      return `{${alternatives.join()}}`
    }
    return tokens[below(tokens.length)]
  }).join('')
}

test('patterns match like a slow reference implementation (property 49)', (t) => {
  const seed = Number(process.env['FUZZ_SEED']) || randomInt(2 ** 31)
  t.diagnostic(`FUZZ_SEED=${seed}`)
  const next = createRandom(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  const letters = ['a', 'b', 'a', 'b', '.', '/', '*', ',', '\u{1f600}']
  let matches = 0
  for (let round = 0; round < 3_000; round += 1) {
    const glob = toRandomGlob(below)
    const [compiled, oracle] = [compileGlob(glob), toOracle(glob)]
    for (let texts = 0; texts < 20; texts += 1) {
      const text = Array.from({ length: below(6) }, () => letters[below(letters.length)]).join('')
      // An emoji is one character, so the reference needs the u flag.
      const expected = new RegExp(oracle.source, 'su').test(text)
      matches += +expected
      assert.equal(compiled.matches(text), expected, JSON.stringify({ glob, text }))
    }
  }
  assert.ok(matches > 1_000, `${matches} matches only`)
})

test('the work grows linearly with the length of a URL, however many ** a pattern has (property 49)', () => {
  const globs = ['**a**b**c**d', '**/**/**/**.html', '{**a,**b}**{c,**d}**e', '*a*a*a*a*a*b', '**']
  for (const glob of globs) {
    const places = glob.length + 3
    const { run } = compileGlob(glob)
    for (const unit of ['a', 'ab', '/', 'abc/']) {
      const stepsFor = (length: number) => run(unit.repeat(length / unit.length)).steps
      for (const length of [9_000, 90_000]) {
        assert.ok(stepsFor(length) <= (length + 1) * places, `${glob} ${unit} ${length}`)
      }
    }
  }
})

test('a URL of 90 kB is refused before it is parsed (property 49)', () => {
  const { judge } = createRedirects({
    siteUrl: 'https://site.example',
    allowList: ['https://**.a**.example/**a**b**c'],
    isStrict: false,
  })
  for (const url of [
    `https://x.a.example/${'a'.repeat(90_000)}`,
    `https://${'a.'.repeat(45_000)}example/`,
    `https://site.example/${'../'.repeat(30_000)}`,
  ]) {
    const verdict = judge(url)
    assert.equal(verdict.isPermitted, false)
    assert.match(verdict.reason, /longer than 2048 characters/)
  }
})
