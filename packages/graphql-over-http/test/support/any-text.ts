import fc from 'fast-check'

/**
 * Text of any code points, including unpaired surrogates. The arbitrary built into fast-check first
 * creates a table of all million code points, which takes longer than the tests.
 */
export function anyText(constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  return fc
    .array(fc.integer({ min: 0, max: 0x10ffff }), constraints)
    .map((points) => String.fromCodePoint(...points))
}
