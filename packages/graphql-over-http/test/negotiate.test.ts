/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isJson, negotiate } from '../src/negotiate.ts'
import { anyText } from './support/any-text.ts'
import { GR, J } from './support/request.ts'

/** An Accept header and the negotiated type; null means 406. */
const ANSWERS: readonly (readonly [accept: string | undefined, answer: string | null])[] = [
  // A missing header or a wildcard means JSON, because such clients do not know the newer type.
  [undefined, J],
  ['', J],
  ['   ', J],
  ['*/*', J],
  ['application/*', J],

  [J, J],
  [GR, GR],
  [`${J}, ${GR}`, J],
  [`${GR}, ${J}`, GR],
  [`${GR}, ${J};q=0.9`, GR],
  [`${GR};q=0.1, ${J}`, J],
  [`${GR};q=0.1, ${J};q=0.2`, J],
  [`${J};q=0.5, ${GR};q=0.50`, J],
  [`${GR};q=0.5, ${J};q=0.500`, GR],
  [`*/*, ${GR}`, J],
  [`*/*, ${J}`, J],
  [`*/*, ${GR}, ${J}`, J],
  [`*/*;q=0.5, ${GR}, ${J}`, GR],
  [`application/*;q=0.1, ${GR};q=0.5, ${J};q=0.5`, GR],
  [`${GR}, */*`, GR],
  ['text/html, */*;q=0.1', J],
  [`text/html, application/xhtml+xml, ${GR};q=0.2, */*;q=0.1`, GR],

  // A weight of 0 excludes a type, and the most specific range decides.
  [`${J};q=0`, null],
  [`${J};q=0, ${GR};q=0.0`, null],
  [`${J};q=0.000`, null],
  ['*/*;q=0', null],
  [`${J};q=0, */*`, GR],
  [`*/*, ${J};q=0`, GR],
  [`${GR};q=0, */*`, J],
  [`*/*;q=0, ${GR}`, GR],
  [`application/*;q=0, */*`, null],
  [`*/*;q=0, application/*`, J],
  [`application/*;q=0.1, ${J};q=0.05, */*`, GR],

  // A weight out of range is clamped; a range with a malformed weight is ignored.
  [`${GR};q=7, ${J};q=0.9`, GR],
  [`${J}, ${GR};q=7`, J],
  [`${J};q=high`, null],
  [`${J};q=`, null],
  [`${J};q`, null],
  [`${J};q=NaN, ${GR}`, GR],
  [`${J};q=0.5x, ${GR};q=0.1`, GR],
  [`${J};q=0x1, ${GR};q=0.1`, GR],
  [`${J};q=1e0, ${GR};q=0.1`, GR],

  // Encodings: utf-8 in any spelling, and no other.
  [`${J}; charset=utf-8`, J],
  [`${J}; charset=utf8`, J],
  [`${J}; charset=UTF-8`, J],
  [`${J}; charset="utf-8"`, J],
  [`${GR}; charset=utf-8`, GR],
  [`${GR}; charset=utf8`, GR],
  [`${GR};charset="UTF8"`, GR],
  [`${J}; charset=iso-8859-1`, null],
  [`${J}; charset=iso-8859-1, ${GR}`, GR],
  [`${GR}; charset=utf-16, ${J}`, J],
  ['*/*; charset=utf-16', null],
  [`${J}; charset=utf-16;q=0, */*`, J],
  [`${J}; charset=`, null],

  // Other parameters do not matter.
  [`${J}; version=1`, J],
  [`${GR}; version=1; charset=utf-8; q=0.4, ${J};q=0.3`, GR],
  [`${GR}; q=0.4; version=1, ${J};q=0.3`, GR],
  [`${J};`, J],
  [`${J};;q=0.5;`, J],
  [`text/html;note="${GR}, ${J}"`, null],
  [`${GR};note="a, b; q=0";q=0.5, ${J};q=0.2`, GR],
  [`${GR};note="an escaped \\" quote, ${J}", text/html`, GR],

  // Neither of the two types.
  ['text/html', null],
  ['text/*', null],
  ['*/json', null],
  ['application/graphql+json', null],
  ['application/graphql-response', null],
  ['application/json5', null],
  ['application', null],
  ['*', null],
  [',', null],

  // The syntax of the header.
  [J.toUpperCase(), J],
  ['Application/GraphQL-Response+JSON;Q=0.4, Application/JSON;q=0.3', GR],
  [`  ${GR}\t;\tq=0.4 ,\t${J} ; q=0.3  `, GR],
  [`,, ${GR},,${J},`, GR],
]

for (const [accept, answer] of ANSWERS) {
  test(`Accept ${JSON.stringify(accept)} is answered with ${answer ?? '406'}`, () => {
    assert.equal(negotiate(accept), answer)
  })
}

/** A parsed media range. The oracle below never sees the text that is generated from it. */
interface Range {
  readonly type: string
  readonly quality: number | undefined
  readonly charset: string | undefined
}

const TYPES = [J, GR, 'application/*', '*/*', 'text/html', 'text/*', 'application/graphql+json']
const CHARSETS = ['utf-8', 'utf8', 'UTF-8', 'iso-8859-1']

const qualities = fc.constantFrom(0, 0.001, 0.1, 0.25, 0.5, 0.9, 1)
const ranges = (quality: fc.Arbitrary<number | undefined>): fc.Arbitrary<Range[]> =>
  fc.uniqueArray(
    fc.record({
      type: fc.constantFrom(...TYPES),
      quality,
      charset: fc.option(fc.constantFrom(...CHARSETS), { nil: undefined, freq: 4 }),
    }),
    // A range that occurs twice with different weights has no defined meaning.
    { selector: ({ type }) => type, minLength: 1, maxLength: 6 },
  )

const toText = ({ type, quality, charset }: Range): string =>
  [
    type,
    ...(charset === undefined ? [] : [`charset=${charset}`]),
    ...(quality === undefined ? [] : [`q=${quality}`]),
  ].join(';')
const toHeader = (list: readonly Range[]): string => list.map(toText).join(', ')

const isUtf8 = ({ charset }: Range): boolean =>
  charset === undefined || ['utf-8', 'utf8'].includes(charset.toLowerCase())

/** Quality of a type by RFC 9110, section 12.5.1: the most specific range that matches decides. */
function getQuality(type: string, list: readonly Range[]): number {
  const usable = list.filter(isUtf8)
  const exact = usable.find((range) => range.type === type)
  const family = usable.find((range) => range.type === 'application/*')
  const anything = usable.find((range) => range.type === '*/*')
  const decisive = exact ?? family ?? anything
  return decisive === undefined ? 0 : (decisive.quality ?? 1)
}

test('the acceptable type with the highest quality is always chosen', () => {
  fc.assert(
    fc.property(ranges(fc.option(qualities, { nil: undefined })), (list) => {
      const json = getQuality(J, list)
      const graphql = getQuality(GR, list)
      const answer = negotiate(toHeader(list))
      if (json === 0 && graphql === 0) assert.equal(answer, null)
      else if (json > graphql) assert.equal(answer, J)
      else if (graphql > json) assert.equal(answer, GR)
      else assert.notEqual(answer, null)
    }),
    { numRuns: 2000 },
  )
})

test('without weights the first range that matches wins, and a wildcard means JSON', () => {
  fc.assert(
    fc.property(ranges(fc.constant(undefined)), (list) => {
      const first = list
        .filter(isUtf8)
        .find(({ type }) => [J, GR, 'application/*', '*/*'].includes(type))
      const answer = first === undefined ? null : first.type === GR ? GR : J
      assert.equal(negotiate(toHeader(list)), answer)
    }),
    { numRuns: 2000 },
  )
})

test('of two types with the same weight the first one wins', () => {
  const others = fc.array(fc.constantFrom('text/html', 'image/*;q=0.7', 'application/xml'))
  const named = fc.shuffledSubarray([J, GR], { minLength: 2 })
  fc.assert(
    fc.property(named, fc.constantFrom(0.1, 0.5, 1), others, ([first, second], q, rest) => {
      const header = [`${first};q=${q}`, ...rest, `${second};q=${q}`].join(', ')
      assert.equal(negotiate(header), first)
    }),
  )
})

test('case, whitespace and the order of parameters never matter', () => {
  const space = fc.stringMatching(/^[ \t]{0,3}$/)
  const spelling = fc.record({
    before: space,
    after: space,
    isUpperCase: fc.boolean(),
    isReversed: fc.boolean(),
    extra: fc.constantFrom('', ';version=1', ';profile="a, b; q=0"', ';'),
  })
  const list = ranges(fc.option(qualities, { nil: undefined }))
  fc.assert(
    fc.property(list, spelling, (parts, { before, after, isUpperCase, isReversed, extra }) => {
      const respelled = parts.map((range) => {
        const [type, ...parameters] = toText(range).split(';')
        const ordered = isReversed ? parameters.toReversed() : parameters
        const text = [`${type}${extra}`, ...ordered].join(`${before};${after}`)
        return isUpperCase ? text.toUpperCase() : text
      })
      const header = respelled.join(`${before},${after}`)
      assert.equal(negotiate(header), negotiate(toHeader(parts)), header)
    }),
    { numRuns: 1000 },
  )
})

const garbage = fc.oneof(
  anyText({ maxLength: 60 }),
  fc
    .array(fc.constantFrom(J, GR, '*/*', ',', ';', '"', '\\', 'q=', '0', '=', ' ', 'charset'), {
      maxLength: 40,
    })
    .map((parts) => parts.join('')),
)

test('no header makes negotiation throw, return a third type or change its result', () => {
  fc.assert(
    fc.property(garbage, (header) => {
      const answer = negotiate(header)
      assert.ok([J, GR, null].includes(answer), header)
      assert.equal(negotiate(header), answer, header)
      assert.equal(typeof isJson(header), 'boolean')
    }),
    { numRuns: 3000 },
  )
})

test('cached results belong to their own header', () => {
  const headers = Array.from({ length: 2000 }, (_, number) => ({
    header: `${number % 2 === 0 ? GR : J};v=${number}`,
    answer: number % 2 === 0 ? GR : J,
  }))
  for (const { header, answer } of [...headers, ...headers.toReversed()]) {
    assert.equal(negotiate(header), answer)
  }
})

test('hostile headers cost no more than their length', () => {
  /**
   * The CPU time that a header takes: the minimum of several runs, since other work can only add to
   * it.
   */
  const costOf = (header: string): number => {
    const costs = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage()
      assert.ok([J, GR, null].includes(negotiate(header)))
      assert.equal(typeof isJson(header), 'boolean')
      const { user, system } = process.cpuUsage(before)
      return user + system
    })
    return Math.max(Math.min(...costs), 200)
  }
  for (const piece of ['"', '\\"', '",', '";', '"\\', 'a;', ',;="', ' ', `${J};q=0,`]) {
    const ratio = costOf(piece.repeat(40_000)) / costOf(piece.repeat(2_500))
    // A header 16 times as long takes 16 times as long; with a quadratic algorithm it would take
    // 256 times.
    assert.ok(ratio < 100, `${JSON.stringify(piece)}: ${ratio} times as much`)
  }
})
