import { HpackDecoder } from '../src/hpack/decoder.ts'
import { decodeHuffman, maxDecodedLength } from '../src/hpack/huffman.ts'
import { CLIENT_TABLE_SIZE, fail, withInput } from './failure.ts'
import { type Field, HpackEncoder } from './hpack-encoder.ts'
import { encodeHuffman } from './huffman-encoder.ts'
import { Random } from './random.ts'

/** Larger than any generated list, so that no field is dropped. */
const LIST_SIZE = 2 ** 20

/** The number of blocks for one pair of encoder and decoder, whose tables must stay equal. */
const BLOCKS_PER_PAIR = 32

const names = [
  ':path',
  ':authority',
  'content-type',
  'user-agent',
  'x-a',
  'x-b',
  'cookie',
  'te',
] as const

/** Compares the decoder with an independent encoder. */
export class HpackFuzzer {
  readonly #seed: number
  readonly #random: Random
  #encoder = new HpackEncoder(CLIENT_TABLE_SIZE)
  #decoder = new HpackDecoder(CLIENT_TABLE_SIZE, LIST_SIZE)
  #input: Uint8Array = new Uint8Array(0)

  constructor(seed: number) {
    this.#seed = seed
    this.#random = new Random(seed)
  }

  /** Runs the input with this number; throws if an invariant is violated. */
  run(index: number): void {
    const random = this.#random
    random.restart(this.#seed, index)
    if (index % BLOCKS_PER_PAIR === 0) {
      this.#encoder = new HpackEncoder(CLIENT_TABLE_SIZE)
      this.#decoder = new HpackDecoder(CLIENT_TABLE_SIZE, LIST_SIZE)
    }
    const where = `hpack, seed ${this.#seed}, input ${index}`
    withInput(
      where,
      () => this.#input,
      () => {
        const kind = random.below(8)
        if (kind < 5) this.#roundTrip()
        else if (kind < 7) this.#broken()
        else this.#huffman()
      },
    )
  }

  /** Encoded fields must be decoded unchanged, and both tables must be equal afterwards. */
  #roundTrip(): void {
    const fields = createFields(this.#random)
    const block = this.#encoder.encode(fields, this.#random)
    this.#input = block
    const decoded = this.#decoder.decode(block, 0, block.length)
    if (decoded === undefined) fail('a valid block is refused')
    if (decoded.length !== fields.length) fail(`${decoded.length} of ${fields.length} fields`)
    for (const [at, [name, value]] of fields.entries()) {
      const field = decoded[at]
      if (field?.name !== name || field.value !== value) {
        fail(`field ${at} should be ${JSON.stringify([name, value])}, is ${JSON.stringify(field)}`)
      }
    }
    const { table } = this.#decoder
    if (table.length !== this.#encoder.table.length) fail('the tables differ in length')
    if (table.size !== this.#encoder.tableSize) fail('the tables differ in size')
  }

  /** A broken block is decoded or refused, and the table keeps to its size. */
  #broken(): void {
    const random = this.#random
    const decoder = new HpackDecoder(CLIENT_TABLE_SIZE, random.below(1000))
    const encoder = new HpackEncoder(CLIENT_TABLE_SIZE)
    for (let blocks = random.between(1, 3); blocks > 0; blocks--) {
      const block = random.oneIn(3)
        ? Buffer.alloc(random.between(1, 200))
        : encoder.encode(createFields(random), random)
      if (block.every((byte) => byte === 0)) random.fill(block)
      for (let count = random.below(4); count > 0 && block.length > 0; count--) {
        block[random.below(block.length)] = random.below(256)
      }
      this.#input = block
      const end = random.oneIn(4) ? random.below(block.length + 1) : block.length
      decoder.decode(block, 0, end)
      if (decoder.table.size > CLIENT_TABLE_SIZE) fail('the table outgrows its limit')
    }
  }

  /** Every string has exactly one code, so bytes that decode must equal the re-encoded string. */
  #huffman(): void {
    const random = this.#random
    let code: Buffer = Buffer.alloc(random.below(40))
    random.fill(code)
    if (random.oneIn(2)) code = encodeHuffman(code)
    if (random.oneIn(4) && code.length > 0) code[code.length - 1] = random.below(256)
    this.#input = code
    const target = Buffer.alloc(maxDecodedLength(code.length))
    const written = decodeHuffman(code, 0, code.length, target)
    if (written > target.length) fail('more is decoded than there is room for')
    if (written >= 0 && !encodeHuffman(target.subarray(0, written)).equals(code)) {
      fail('a code is accepted that no encoder makes')
    }
  }
}

function createFields(random: Random): Field[] {
  return Array.from({ length: random.below(8) }, (): Field => {
    const name = random.oneIn(4) ? `x-${random.below(50)}` : random.pick(names)
    return [name, createValue(random)]
  })
}

function createValue(random: Random): string {
  switch (random.below(6)) {
    case 0:
      return ''
    case 1:
      return '/'
    case 2:
      return 'application/grpc'
    case 3:
      return `value ${random.below(20)}`
    case 4:
      return 'long '.repeat(random.below(random.oneIn(8) ? 900 : 40))
    default: {
      const bytes = Buffer.alloc(random.below(20))
      random.fill(bytes)
      return bytes.toString('latin1')
    }
  }
}
