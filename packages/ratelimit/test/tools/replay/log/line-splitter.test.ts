import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { LineSplitter, longestLineBytes } from '../../../../src/tools/replay/log/line-splitter.ts'

function split(chunks: readonly Buffer[]): string[] {
  const lines: string[] = []
  const splitter = new LineSplitter({
    line: (text) => lines.push(text),
    tooLong: () => lines.push('(too long)'),
  })
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return lines
}

suite('lines', () => {
  test('are the same wherever the bytes are split', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', ' ') })
    fc.assert(
      fc.property(fc.array(line), fc.nat(7), fc.boolean(), (lines, size, hasReturn) => {
        const end = hasReturn ? '\r\n' : '\n'
        const bytes = Buffer.from(lines.map((text) => `${text}${end}`).join(''))
        const chunks: Buffer[] = []
        for (let at = 0; at < bytes.length; at += size + 1) {
          chunks.push(bytes.subarray(at, at + size + 1))
        }
        assert.deepEqual(split(chunks), lines)
      }),
    )
  })

  test('need no line break at the end of the log', () => {
    assert.deepEqual(split([Buffer.from('a\nb')]), ['a', 'b'])
  })

  test('that are too long are skipped, and those after them are not', () => {
    const long = Buffer.alloc(longestLineBytes / 2 + 1, 'x')
    const chunks = [Buffer.from('a\n'), long, long, long, Buffer.from('x\nb\n')]
    assert.deepEqual(split(chunks), ['a', '(too long)', 'b'])
  })
})
