import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HpackDecoder } from '../../src/hpack/decoder.ts'

function decoder(tableSize = 4096): HpackDecoder {
  return new HpackDecoder(tableSize, 16_384)
}

function decode(target: HpackDecoder, hex: string): string[] | undefined {
  const bytes = Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')
  return target.decode(bytes, 0, bytes.length)?.map(({ name, value }) => `${name}: ${value}`)
}

function table(target: HpackDecoder): string[] {
  const entries: string[] = []
  for (let age = 0; age < target.table.length; age++) {
    const entry = target.table.at(age)
    entries.push(`${entry?.name}: ${entry?.value}`)
  }
  return entries
}

/** RFC 7541 appendix C: blocks of one connection, each with its fields and the table after it. */
interface Vector {
  readonly name: string
  readonly tableSize?: number
  readonly blocks: readonly { hex: string; fields: string[]; table: string[]; size: number }[]
}

const firstRequest = [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com']
const secondRequest = [...firstRequest, 'cache-control: no-cache']
const thirdRequest = [
  ':method: GET',
  ':scheme: https',
  ':path: /index.html',
  ':authority: www.example.com',
  'custom-key: custom-value',
]
const tablesOfRequests = [
  [':authority: www.example.com'],
  ['cache-control: no-cache', ':authority: www.example.com'],
  ['custom-key: custom-value', 'cache-control: no-cache', ':authority: www.example.com'],
]

const date21 = 'Mon, 21 Oct 2013 20:13:21 GMT'
const date22 = 'Mon, 21 Oct 2013 20:13:22 GMT'
const cookie = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
const firstResponse = [
  ':status: 302',
  'cache-control: private',
  `date: ${date21}`,
  'location: https://www.example.com',
]
const secondResponse = [':status: 307', ...firstResponse.slice(1)]
const thirdResponse = [
  ':status: 200',
  'cache-control: private',
  `date: ${date22}`,
  'location: https://www.example.com',
  'content-encoding: gzip',
  `set-cookie: ${cookie}`,
]
const tablesOfResponses = [
  firstResponse.toReversed(),
  [':status: 307', ...firstResponse.slice(1).toReversed()],
  [`set-cookie: ${cookie}`, 'content-encoding: gzip', `date: ${date22}`],
]

const vectors: readonly Vector[] = [
  {
    name: 'C.2.1 a literal with indexing',
    blocks: [
      {
        hex: '400a637573746f6d2d6b65790d637573746f6d2d686561646572',
        fields: ['custom-key: custom-header'],
        table: ['custom-key: custom-header'],
        size: 55,
      },
    ],
  },
  {
    name: 'C.2.2 a literal without indexing',
    blocks: [
      {
        hex: '040c2f73616d706c652f70617468',
        fields: [':path: /sample/path'],
        table: [],
        size: 0,
      },
    ],
  },
  {
    name: 'C.2.3 a literal never indexed',
    blocks: [
      {
        hex: '100870617373776f726406736563726574',
        fields: ['password: secret'],
        table: [],
        size: 0,
      },
    ],
  },
  {
    name: 'C.2.4 an indexed field',
    blocks: [{ hex: '82', fields: [':method: GET'], table: [], size: 0 }],
  },
  {
    name: 'C.3 requests without Huffman code',
    blocks: withTables(
      tablesOfRequests,
      [57, 110, 164],
      [
        ['828684410f7777772e6578616d706c652e636f6d', firstRequest],
        ['828684be58086e6f2d6361636865', secondRequest],
        ['828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565', thirdRequest],
      ],
    ),
  },
  {
    name: 'C.4 requests with Huffman code',
    blocks: withTables(
      tablesOfRequests,
      [57, 110, 164],
      [
        ['828684418cf1e3c2e5f23a6ba0ab90f4ff', firstRequest],
        ['828684be5886a8eb10649cbf', secondRequest],
        ['828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf', thirdRequest],
      ],
    ),
  },
  {
    name: 'C.5 responses without Huffman code, with eviction',
    tableSize: 256,
    blocks: withTables(
      tablesOfResponses,
      [222, 222, 215],
      [
        [
          `4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54
         6e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
          firstResponse,
        ],
        ['4803333037c1c0bf', secondResponse],
        [
          `88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f
         3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076
         657273696f6e3d31`,
          thirdResponse,
        ],
      ],
    ),
  },
  {
    name: 'C.6 responses with Huffman code, with eviction',
    tableSize: 256,
    blocks: withTables(
      tablesOfResponses,
      [222, 222, 215],
      [
        [
          `488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f
         0b97c8e9ae82ae43d3`,
          firstResponse,
        ],
        ['4883640effc1c0bf', secondResponse],
        [
          `88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335df
         dfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007`,
          thirdResponse,
        ],
      ],
    ),
  },
]

function withTables(
  tables: readonly string[][],
  sizes: readonly number[],
  blocks: readonly (readonly [hex: string, fields: string[]])[],
): Vector['blocks'] {
  return blocks.map(([hex, fields], index) => ({
    hex,
    fields,
    table: tables[index] ?? [],
    size: sizes[index] ?? -1,
  }))
}

describe('the decoder reads the examples of RFC 7541 appendix C', () => {
  for (const { name, tableSize, blocks } of vectors) {
    test(name, () => {
      const target = decoder(tableSize)
      for (const block of blocks) {
        assert.deepEqual(decode(target, block.hex), block.fields)
        assert.deepEqual(table(target), block.table)
        assert.equal(target.table.size, block.size)
      }
    })
  }
})

describe('the decoder refuses', () => {
  const broken: Readonly<Record<string, string>> = {
    'index 0': '80',
    'an index beyond both tables': 'be',
    'an incomplete index': 'ff',
    'an integer without an end': 'ffffffffffffffffff',
    'an integer over the limit': 'ff80808080ff01',
    'a name index beyond both tables': '7f0000',
    'a string longer than the block': '00056162',
    'a literal without a value': '000161',
    'a size update after a field': '8220',
    'a size update over the setting': '3fe21f',
    'Huffman padding of more than seven bits': '000161' + '82f8ff',
    'Huffman padding with a zero': '00016181f0',
    'the end-of-string symbol': '00016184ffffffff',
  }
  for (const [what, hex] of Object.entries(broken)) {
    test(what, () => assert.equal(decode(decoder(), hex), undefined))
  }
})

test('a size update at the beginning of a block empties the table', () => {
  const target = decoder()
  decode(target, '400a637573746f6d2d6b65790d637573746f6d2d686561646572')
  assert.equal(target.table.length, 1)
  assert.deepEqual(decode(target, '203fe11f82'), [':method: GET'])
  assert.equal(target.table.length, 0)
})

test('an entry larger than the table empties it and is still decoded', () => {
  const target = decoder(64)
  decode(target, '4001610162')
  assert.equal(target.table.length, 1)
  const value = 'c'.repeat(60)
  const hex = `4001613c${Buffer.from(value).toString('hex')}`
  assert.deepEqual(decode(target, hex), [`a: ${value}`])
  assert.equal(target.table.length, 0)
})

test('a list over the limit is decoded completely but not kept', () => {
  const target = new HpackDecoder(4096, 200)
  const value = 'v'.repeat(100)
  const hex = `40016164${Buffer.from(value).toString('hex')}${'be'.repeat(4)}`
  const fields = decode(target, hex)
  assert.equal(target.isTooLarge, true)
  assert.equal(fields?.length, 1)
  assert.equal(target.table.length, 1)
  assert.deepEqual(decode(target, '82'), [':method: GET'])
  assert.equal(target.isTooLarge, false)
})

test('decoding of a list several times over the limit is aborted', () => {
  const target = new HpackDecoder(4096, 200)
  const hex = `40016164${Buffer.from('v'.repeat(100)).toString('hex')}${'be'.repeat(5000)}`
  assert.equal(decode(target, hex), undefined)
  assert.equal(target.isBomb, true)
})
