import type { Json, JsonObject } from './message.ts'
import * as tags from './tags.ts'
import type { WireWriter } from './wire-writer.ts'

/** Writes the length and content of a `google.protobuf.Struct`. */
export function writeStruct(writer: WireWriter, object: JsonObject): void {
  const start = writer.begin()
  for (const [name, value] of Object.entries(object)) {
    writer.writeTag(tags.struct.fields)
    const fieldStart = writer.begin()
    writer.writeTag(tags.structField.key)
    writer.writeString(name)
    writer.writeTag(tags.structField.value)
    writeValue(writer, value)
    writer.finish(fieldStart)
  }
  writer.finish(start)
}

function writeValue(writer: WireWriter, value: Json): void {
  const start = writer.begin()
  if (typeof value === 'string') {
    writer.writeTag(tags.structValue.stringValue)
    writer.writeString(value)
  } else if (typeof value === 'number') {
    writer.writeTag(tags.structValue.numberValue)
    writer.writeDouble(value)
  } else if (typeof value === 'boolean') {
    writer.writeTag(tags.structValue.boolValue)
    writer.writeUint32(value ? 1 : 0)
  } else if (value === null) {
    writer.writeTag(tags.structValue.nullValue)
    writer.writeUint32(0)
  } else if (isList(value)) {
    writer.writeTag(tags.structValue.listValue)
    writeList(writer, value)
  } else {
    writer.writeTag(tags.structValue.structValue)
    writeStruct(writer, value)
  }
  writer.finish(start)
}

function writeList(writer: WireWriter, values: readonly Json[]): void {
  const start = writer.begin()
  for (const value of values) {
    writer.writeTag(tags.listValue.values)
    writeValue(writer, value)
  }
  writer.finish(start)
}

// The type guard of `Array.isArray` does not exclude a readonly array from the object type.
function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
