import fc from 'fast-check'

const samples = [
  `domain: d
descriptors:
  - key: k
    value: v
    rate_limit:
      unit: second
      requests_per_unit: 5
    descriptors:
      - key: n # a comment
        value: "a*"
  - key: 'q'
    shadow_mode: yes
`,
  `---
# A comment
domain: "d"

descriptors:
- key: a
  rate_limit: {unit: hour, requests_per_unit: 1_000}
  descriptors:
  - key: b
    metadata:
      x: [1, "two", {y: ~}]
- {key: c, value: "\\u00e9"}
`,
  `domain: d
descriptors:
  - &base
    key: k
    rate_limit: &limit {unit: day, requests_per_unit: 1}
  - <<: *base
    value: >-
      folded
      text
  - key: x
    rate_limit: *limit
`,
]

const pieces = [' ', '  ', '\n', '\r\n', '\t', '- ', ': ', ':', '#', ' #', '"', "'", '{', '}', '[']
pieces.push(
  ']',
  ',',
  '&base ',
  '*base',
  '<<: *base\n',
  '!!str ',
  '|',
  '>',
  '%',
  '@',
  '---\n',
  '...\n',
)
pieces.push('? ', '~', '0', '1.5', '\\', 'é', '\ufeff', '\u2028', 'key: k\n', 'domain: x\n')

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.nat({ max: 12 }),
  insert: fc.constantFrom('', ...pieces),
})

/** Rule files with a few characters removed and a few pieces of YAML inserted. */
export const damagedYaml = fc
  .record({ sample: fc.constantFrom(...samples), edits: fc.array(edit, { maxLength: 4 }) })
  .map(({ sample, edits }) =>
    edits.reduce((text, { at, drop, insert }) => {
      const position = Math.floor(at * text.length)
      return text.slice(0, position) + insert + text.slice(position + drop)
    }, sample),
  )

/** Pieces of YAML in any order. */
export const shuffledYaml = fc
  .array(fc.constantFrom(...pieces, 'a', 'key', 'domain', 'descriptors', 'metadata'))
  .map((parts) => parts.join(''))

/** Random bytes as text. */
export const garbage = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes) => new TextDecoder().decode(bytes))
