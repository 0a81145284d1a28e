import { staticTable } from '../src/hpack/static-table.ts'
import { encodeHuffman } from './huffman-encoder.ts'
import type { Random } from './random.ts'

export type Field = readonly [name: string, value: string]

/** The literal representations (RFC 7541 section 6), with their first byte and prefix bits. */
const literals = {
  indexed: { pattern: 0x40, prefixBits: 6 },
  plain: { pattern: 0, prefixBits: 4 },
  never: { pattern: 0x10, prefixBits: 4 },
} as const

export type Indexing = keyof typeof literals

const FIELD_OVERHEAD = 32

const staticNames = new Map<string, number>()
const staticFields = new Map<string, number>()
for (const [index, known] of staticTable.entries()) {
  if (known === undefined) continue
  if (!staticNames.has(known.name)) staticNames.set(known.name, index)
  staticFields.set(toKey(known.name, known.value), index)
}

/**
 * An HPACK encoder that shares only the static table with the server (another test compares it with
 * nghttp2's), and that makes every choice of the format at random.
 */
export class HpackEncoder {
  /** The dynamic table, newest first. */
  readonly table: Field[] = []
  tableSize = 0
  #maxSize: number
  readonly #limit: number

  /** @param limit the table size that the decoder allows. */
  constructor(limit: number) {
    this.#limit = limit
    this.#maxSize = limit
  }

  encode(fields: readonly Field[], random: Random): Buffer {
    const parts: Buffer[] = []
    for (let updates = random.oneIn(8) ? random.between(1, 2) : 0; updates > 0; updates--) {
      parts.push(this.#resize(random.below(this.#limit + 1), random))
    }
    for (const field of fields) parts.push(this.#field(field, random))
    return Buffer.concat(parts)
  }

  /**
   * Encodes like a client whose calls differ only in their path: nothing else enters the table, so
   * the same bytes repeat, but refer to another path each time one is added.
   */
  encodeSteadily(fields: readonly Field[]): Buffer {
    return Buffer.concat(
      fields.map((field) => {
        const [name, value] = field
        const whole = this.#indexOfField(name, value)
        if (whole > 0) return toInteger(0x80, 7, whole)
        if (name !== ':path') return toLiteral('plain', 0, name, value)
        this.#add(field)
        return toLiteral('indexed', 0, name, value)
      }),
    )
  }

  #resize(size: number, random: Random): Buffer {
    this.#maxSize = size
    this.#evictDownTo(size)
    return toInteger(0x20, 5, size, random)
  }

  #field(field: Field, random: Random): Buffer {
    const [name, value] = field
    const whole = this.#indexOfField(name, value)
    if (whole > 0 && !random.oneIn(4)) return toInteger(0x80, 7, whole, random)
    const indexing = random.pick<Indexing>(['indexed', 'plain', 'never'])
    const sameName = random.oneIn(4) ? 0 : this.#indexOfName(name)
    const encoded = toLiteral(indexing, sameName, name, value, random)
    if (indexing === 'indexed') this.#add(field)
    return encoded
  }

  /** Returns 0 if the field is not in a table. */
  #indexOfField(name: string, value: string): number {
    const age = this.table.findIndex((known) => known[0] === name && known[1] === value)
    return age < 0 ? (staticFields.get(toKey(name, value)) ?? 0) : staticTable.length + age
  }

  #indexOfName(name: string): number {
    const age = this.table.findIndex((known) => known[0] === name)
    return age < 0 ? (staticNames.get(name) ?? 0) : staticTable.length + age
  }

  #add(field: Field): void {
    const size = sizeOf(field)
    this.#evictDownTo(this.#maxSize - size)
    if (size > this.#maxSize) return
    this.table.unshift(field)
    this.tableSize += size
  }

  #evictDownTo(size: number): void {
    while (this.tableSize > Math.max(0, size)) {
      const oldest = this.table.pop()
      if (oldest === undefined) break
      this.tableSize -= sizeOf(oldest)
    }
  }
}

function toKey(name: string, value: string): string {
  return `${name}\0${value}`
}

function sizeOf([name, value]: Field): number {
  return name.length + value.length + FIELD_OVERHEAD
}

/** A literal field; with `nameIndex` 0 it contains the name. */
export function toLiteral(
  indexing: Indexing,
  nameIndex: number,
  name: string,
  value: string,
  random?: Random,
): Buffer {
  const { pattern, prefixBits } = literals[indexing]
  return Buffer.concat([
    toInteger(pattern, prefixBits, nameIndex, random),
    ...(nameIndex === 0 ? [toText(name, random)] : []),
    toText(value, random),
  ])
}

function toText(text: string, random: Random | undefined): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return random?.oneIn(2) ? toHuffman(bytes) : Buffer.concat([toInteger(0, 7, bytes.length), bytes])
}

/** A string literal in Huffman code. */
export function toHuffman(text: Uint8Array): Buffer {
  const code = encodeHuffman(text)
  return Buffer.concat([toInteger(0x80, 7, code.length), code])
}

/** RFC 7541 5.1; sometimes with a final byte that adds nothing, which the RFC does not forbid. */
export function toInteger(
  pattern: number,
  prefixBits: number,
  value: number,
  random?: Random,
): Buffer {
  const mask = 2 ** prefixBits - 1
  if (value < mask) return Buffer.from([pattern | value])
  const bytes = [pattern | mask]
  let rest = value - mask
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  if (random?.oneIn(16)) bytes.push(rest | 128, 0)
  else bytes.push(rest)
  return Buffer.from(bytes)
}
