import { gzipSync } from 'node:zlib'
import { toField, toNumber, toNumbers, toText } from '../wire-format.ts'

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
    toNumber(1, strings.add(type)),
    toNumber(2, strings.add(unit)),
  ]
  const head = [
    ...profile.types.map((type) => toField(1, toType(type))),
    ...profile.samples.map(({ frames: stack, values }) =>
      toField(2, [
        toNumbers(
          1,
          stack.map((frame) => frames.add(frame) + 1),
        ),
        toNumbers(2, values.map(Math.round)),
      ]),
    ),
    toNumber(9, toNanoseconds(profile.startedAtMs)),
    toNumber(10, toNanoseconds(profile.durationMs)),
    toField(11, toType(profile.period)),
    toNumber(12, profile.period.value),
  ]
  // Every function has one location, with the same id.
  const locations = frames.list.flatMap(({ name, file, line }, index) => {
    const id = index + 1
    return [
      toField(4, [toNumber(1, id), toField(4, [toNumber(1, id), toNumber(2, line)])]),
      toField(5, [
        toNumber(1, id),
        toNumber(2, strings.add(name)),
        toNumber(3, strings.add(name)),
        toNumber(4, strings.add(file)),
        toNumber(5, line),
      ]),
    ]
  })
  const texts = strings.list.map((text) => toText(6, text))
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

/** Nanoseconds since the epoch need more than the 53 bits of a number. */
function toNanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * 1_000)) * 1_000n
}
