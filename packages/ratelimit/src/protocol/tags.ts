/** The three low bits of a tag; the field's number is above them. */
export const wire = {
  varint: 0,
  fixed64: 1,
  bytes: 2,
  groupStart: 3,
  groupEnd: 4,
  fixed32: 5,
} as const

/*
 * The tags of the fields of each message, as `proto/` defines them.
 */

export const request = {
  domain: (1 << 3) | wire.bytes,
  descriptors: (2 << 3) | wire.bytes,
  hitsAddend: (3 << 3) | wire.varint,
} as const

export const descriptor = {
  entries: (1 << 3) | wire.bytes,
  limit: (2 << 3) | wire.bytes,
  hitsAddend: (3 << 3) | wire.bytes,
  isNegativeHits: (4 << 3) | wire.varint,
} as const

export const entry = {
  key: (1 << 3) | wire.bytes,
  value: (2 << 3) | wire.bytes,
} as const

export const override = {
  requestsPerUnit: (1 << 3) | wire.varint,
  unit: (2 << 3) | wire.varint,
} as const

export const uint64Value = {
  value: (1 << 3) | wire.varint,
} as const

export const response = {
  overallCode: (1 << 3) | wire.varint,
  statuses: (2 << 3) | wire.bytes,
  responseHeadersToAdd: (3 << 3) | wire.bytes,
  dynamicMetadata: (6 << 3) | wire.bytes,
} as const

export const descriptorStatus = {
  code: (1 << 3) | wire.varint,
  currentLimit: (2 << 3) | wire.bytes,
  limitRemaining: (3 << 3) | wire.varint,
  durationUntilReset: (4 << 3) | wire.bytes,
} as const

export const currentLimit = {
  requestsPerUnit: (1 << 3) | wire.varint,
  unit: (2 << 3) | wire.varint,
  name: (3 << 3) | wire.bytes,
} as const

export const duration = {
  seconds: (1 << 3) | wire.varint,
} as const

export const struct = {
  fields: (1 << 3) | wire.bytes,
} as const

/** A member of a struct: protobuf encodes maps as lists of pairs. */
export const structField = {
  key: (1 << 3) | wire.bytes,
  value: (2 << 3) | wire.bytes,
} as const

/** Exactly one of these fields is present. */
export const structValue = {
  nullValue: (1 << 3) | wire.varint,
  numberValue: (2 << 3) | wire.fixed64,
  stringValue: (3 << 3) | wire.bytes,
  boolValue: (4 << 3) | wire.varint,
  structValue: (5 << 3) | wire.bytes,
  listValue: (6 << 3) | wire.bytes,
} as const

export const listValue = {
  values: (1 << 3) | wire.bytes,
} as const
