/**
 * The meaning of a header field in a request. It is determined once, when the field is created, so
 * that a field from a table needs no further checks.
 */
export const fieldRole = {
  ordinary: 0,
  method: 1,
  path: 2,
  scheme: 3,
  authority: 4,
  contentLength: 5,
  contentType: 6,
  timeout: 7,
  /** Makes the message malformed (RFC 9113 8.2 and 8.3). */
  forbidden: 8,
} as const

export type FieldRole = (typeof fieldRole)[keyof typeof fieldRole]

const rolesByName: ReadonlyMap<string, FieldRole> = new Map([
  [':method', fieldRole.method],
  [':path', fieldRole.path],
  [':scheme', fieldRole.scheme],
  [':authority', fieldRole.authority],
  ['content-length', fieldRole.contentLength],
  ['content-type', fieldRole.contentType],
  ['grpc-timeout', fieldRole.timeout],
  // Connection-specific fields (RFC 9113 8.2.2).
  ['connection', fieldRole.forbidden],
  ['keep-alive', fieldRole.forbidden],
  ['proxy-connection', fieldRole.forbidden],
  ['transfer-encoding', fieldRole.forbidden],
  ['upgrade', fieldRole.forbidden],
])

/**
 * RFC 9113 8.2.1 with RFC 9110 5.6.2: a lower-case token. Only known pseudo-header fields begin
 * with a colon.
 */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** RFC 9113 8.2.1: no NUL, line feed or carriage return, no white space at either end. */
// oxlint-disable-next-line no-control-regex -- the expression searches for these bytes
const BAD_VALUE = /[\x00\n\r]|^[ \t]|[ \t]$/

/** RFC 7541 4.1: the size of an entry in addition to its name and value. */
const ENTRY_OVERHEAD = 32

export class Field {
  readonly name: string
  readonly value: string
  readonly role: FieldRole
  /** The role that follows from the name alone. */
  readonly nameRole: FieldRole
  /** The size defined in RFC 7541 4.1. */
  readonly size: number

  /**
   * A name from a table was checked when it was added. If it were checked again, three bytes that
   * refer to an entry of four thousand bytes would cost as much as the entry itself.
   */
  constructor(name: string, value: string, nameRole: FieldRole = toNameRole(name)) {
    this.name = name
    this.value = value
    this.nameRole = nameRole
    this.role = toRole(name, value, nameRole)
    this.size = name.length + value.length + ENTRY_OVERHEAD
  }
}

function toNameRole(name: string): FieldRole {
  return rolesByName.get(name) ?? (NAME.test(name) ? fieldRole.ordinary : fieldRole.forbidden)
}

function toRole(name: string, value: string, nameRole: FieldRole): FieldRole {
  if (nameRole === fieldRole.forbidden || BAD_VALUE.test(value)) return fieldRole.forbidden
  // RFC 9113 8.2.2: the only valid value of `te` is `trailers`.
  if (name === 'te' && value !== 'trailers') return fieldRole.forbidden
  return nameRole
}
