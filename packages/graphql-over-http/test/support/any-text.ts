import fc from 'fast-check'

/**
 * Text of any code points, halves of pairs included. What fast-check has for it first makes a table of all
 * the million there are, which takes longer than the tests.
 */
export function anyText(constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  return fc
    .array(fc.integer({ min: 0, max: 0x10ffff }), constraints)
    .map((points) => String.fromCodePoint(...points))
}
