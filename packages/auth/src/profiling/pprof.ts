import { gzipSync } from 'node:zlib'

/** A function on the call stack. */
export interface Frame {
  readonly name: string
  readonly file: string
  /** Starting at 1. */
  readonly line: number
}

export interface StackSample {
  /** The innermost function is first. */
  readonly frames: readonly Frame[]
  /** One value for each type of the profile. */
  readonly values: readonly number[]
}

export interface ValueType {
  readonly type: string
  readonly unit: string
}

export interface Profile {
  readonly types: readonly ValueType[]
  readonly samples: readonly StackSample[]
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number
  readonly durationMs: number
  /** How often a sample is taken. */
  readonly period: ValueType & { readonly value: number }
}

/**
 * Encodes a profile in the format of pprof, which `go tool pprof` and other viewers read:
 * https://github.com/google/pprof/blob/main/proto/profile.proto
 */
export function encodeProfile(profile: Profile): Buffer {
  const strings = createTable<string>((text) => text)
  strings.add('')
  const frames = createTable<Frame>(({ name, file, line }) => `${name}\0${file}\0${line}`)
  const toType = ({ type, unit }: ValueType) => [
    integerField(1, strings.add(type)),
    integerField(2, strings.add(unit)),
  ]
  const head = [
    ...profile.types.map((type) => messageField(1, toType(type))),
    ...profile.samples.map(({ frames: stack, values }) =>
      messageField(2, [
        packedField(
          1,
          stack.map((frame) => frames.add(frame) + 1),
        ),
        packedField(2, values),
      ]),
    ),
    integerField(9, profile.startedAtMs * 1_000_000),
    integerField(10, profile.durationMs * 1_000_000),
    messageField(11, toType(profile.period)),
    integerField(12, profile.period.value),
  ]
  // Every function has one location, with the same id.
  const locations = frames.list.flatMap(({ name, file, line }, index) => {
    const id = index + 1
    return [
      messageField(4, [
        integerField(1, id),
        messageField(4, [integerField(1, id), integerField(2, line)]),
      ]),
      messageField(5, [
        integerField(1, id),
        integerField(2, strings.add(name)),
        integerField(3, strings.add(name)),
        integerField(4, strings.add(file)),
        integerField(5, line),
      ]),
    ]
  })
  const texts = strings.list.map((text) => bytesField(6, Buffer.from(text)))
  return gzipSync(Buffer.concat([...head, ...locations, ...texts]))
}

/** Gives each distinct value a number, in the order in which they are added. */
function createTable<Value>(toKey: (value: Value) => string) {
  const known = new Map<string, number>()
  const list: Value[] = []
  return {
    list,
    add(value: Value): number {
      const key = toKey(value)
      const found = known.get(key)
      if (found !== undefined) return found
      known.set(key, list.length)
      list.push(value)
      return list.length - 1
    },
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  // Nanoseconds since the epoch need more than the 53 bits of a number.
  let rest = BigInt(Math.round(value))
  do {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest > 0n ? low | 0x80 : low)
  } while (rest > 0n)
  return Buffer.from(bytes)
}

function integerField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

function bytesField(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

function messageField(field: number, parts: readonly Buffer[]): Buffer {
  return bytesField(field, Buffer.concat(parts))
}

function packedField(field: number, values: readonly number[]): Buffer {
  return bytesField(field, Buffer.concat(values.map(varint)))
}
