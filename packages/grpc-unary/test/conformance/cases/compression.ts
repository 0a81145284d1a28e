import { HpackEncoder, toHuffman, toInteger, toLiteral } from '../../../fuzz/hpack-encoder.ts'
import { Random } from '../../../fuzz/random.ts'
import { flag, frameType } from '../../../src/http2/frames.ts'
import { frame, requestFields } from '../../support/raw-client.ts'
import { answered, type Case, type Cases, END, goaway, hello, SAY, sayBlock } from '../case.ts'

/** A name and a value that are in no table. */
const NAME = 'x-custom'
const VALUE = 'some value'

/** A call whose block contains these bytes must be answered. */
function good(...parts: readonly Uint8Array[]): Case {
  return {
    sends: [
      frame(frameType.HEADERS, flag.END_HEADERS, 1, Buffer.concat([sayBlock, ...parts])),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: answered(1),
  }
}

/** A block with these bytes at its end must end the connection (RFC 9113 4.3). */
function bad(...parts: readonly Uint8Array[]): Case {
  return {
    sends: [frame(frameType.HEADERS, END, 1, Buffer.concat([sayBlock, ...parts]))],
    expect: goaway('COMPRESSION_ERROR'),
  }
}

const bytes = (...values: readonly number[]): Buffer => Buffer.from(values)
const huffman = (text: string): Buffer => toHuffman(Buffer.from(text, 'latin1'))
const sizeUpdate = (size: number): Buffer => toInteger(0x20, 5, size)
const USER_AGENT = 58

/** A literal without indexing: a new name, then this value. */
const withValue = (value: Uint8Array): Buffer =>
  Buffer.concat([bytes(0), bytes(1), Buffer.from('x'), value])

const sized = (...updates: readonly number[]): Case => ({
  sends: [
    frame(
      frameType.HEADERS,
      flag.END_HEADERS,
      1,
      Buffer.concat([...updates.map(sizeUpdate), sayBlock]),
    ),
    frame(frameType.DATA, flag.END_STREAM, 1, hello),
  ],
  expect: answered(1),
})

/** Calls whose blocks use every representation of HPACK, with one table. */
function manyForms(): Case {
  const random = new Random(7541)
  const encoder = new HpackEncoder(4096)
  const sends: Buffer[] = []
  for (let id = 1; id < 400; id += 2) {
    const fields = Object.entries({ ...requestFields(SAY), [NAME]: `${VALUE} ${id % 7}` })
    sends.push(
      frame(frameType.HEADERS, flag.END_HEADERS, id, encoder.encode(fields, random)),
      frame(frameType.DATA, flag.END_STREAM, id, hello),
    )
  }
  return { sends, expect: answered(399) }
}

/** RFC 7541. */
export const compression: Cases = {
  'HPACK 6.1: an indexed field': good(bytes(0x80 | 16)),
  'HPACK 6.2.1: incremental indexing, indexed name': good(
    toLiteral('indexed', USER_AGENT, '', VALUE),
    bytes(0x80 | 62),
  ),
  'HPACK 6.2.1: incremental indexing, indexed name, Huffman': good(
    bytes(0x40 | USER_AGENT),
    huffman(VALUE),
  ),
  'HPACK 6.2.1: incremental indexing, new name': good(toLiteral('indexed', 0, NAME, VALUE)),
  'HPACK 6.2.1: incremental indexing, new name, Huffman': good(
    bytes(0x40),
    huffman(NAME),
    huffman(VALUE),
  ),
  'HPACK 6.2.2: without indexing, indexed name': good(toLiteral('plain', USER_AGENT, '', VALUE)),
  'HPACK 6.2.2: without indexing, indexed name, Huffman': good(
    toInteger(0, 4, USER_AGENT),
    huffman(VALUE),
  ),
  'HPACK 6.2.2: without indexing, new name': good(toLiteral('plain', 0, NAME, VALUE)),
  'HPACK 6.2.2: without indexing, new name, Huffman': good(bytes(0), huffman(NAME), huffman(VALUE)),
  'HPACK 6.2.3: never indexed, indexed name': good(toLiteral('never', USER_AGENT, '', VALUE)),
  'HPACK 6.2.3: never indexed, indexed name, Huffman': good(
    toInteger(0x10, 4, USER_AGENT),
    huffman(VALUE),
  ),
  'HPACK 6.2.3: never indexed, new name': good(toLiteral('never', 0, NAME, VALUE)),
  'HPACK 6.2.3: never indexed, new name, Huffman': good(bytes(0x10), huffman(NAME), huffman(VALUE)),
  'HPACK 6.3: a table size update': sized(100),
  'HPACK 6.3: several table size updates': sized(0, 4096),
  'HPACK 5.1: an integer with a last byte that adds nothing': good(
    bytes(0x0f, 0x80 | (USER_AGENT - 15), 0, VALUE.length),
    Buffer.from(VALUE),
  ),
  'HPACK 4.4: an entry larger than the table empties it': good(
    toLiteral('indexed', 0, NAME, VALUE),
    toLiteral('indexed', 0, NAME, 'v'.repeat(4096)),
    toLiteral('indexed', 0, NAME, VALUE),
    bytes(0x80 | 62),
  ),
  'HPACK: 200 calls in every form, one table': manyForms(),

  'HPACK 2.3.3: an index beyond both tables': bad(toInteger(0x80, 7, 70)),
  'HPACK 2.3.3: a name index beyond both tables': bad(toLiteral('plain', 70, '', VALUE)),
  'HPACK 4.2: a table size update after a field': bad(sizeUpdate(100)),
  'HPACK 4.4: an entry that was evicted': bad(
    toLiteral('indexed', 0, NAME, VALUE),
    toLiteral('indexed', 0, NAME, 'v'.repeat(4096)),
    bytes(0x80 | 62),
  ),
  'HPACK 5.1: an integer without an end': bad(bytes(0xff, 0x80)),
  'HPACK 5.1: an integer over the limit': bad(
    bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
  ),
  'HPACK 5.2: a string longer than its block': bad(withValue(bytes(5, 0x61))),
  'HPACK 5.2: a literal without a value': bad(bytes(0, 1, 0x78)),
  'HPACK 5.2: Huffman padding of more than 7 bits': bad(withValue(bytes(0x82, 0x1f, 0xff))),
  'HPACK 5.2: Huffman padding of zeros': bad(withValue(bytes(0x81, 0x18))),
  'HPACK 5.2: the end-of-string symbol': bad(withValue(bytes(0x84, 0xff, 0xff, 0xff, 0xff))),
  'HPACK 6.1: index 0': bad(bytes(0x80)),
  'HPACK 6.3: a table size over SETTINGS_HEADER_TABLE_SIZE': {
    sends: [frame(frameType.HEADERS, END, 1, Buffer.concat([sizeUpdate(4097), sayBlock]))],
    expect: goaway('COMPRESSION_ERROR'),
  },
}
