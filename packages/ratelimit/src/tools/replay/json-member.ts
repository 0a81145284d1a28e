type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds a member by its name, or by a path of names separated by dots. */
export type FindMember = (object: JsonRecord) => unknown

export function createMemberFinder(name: string): FindMember {
  const path = name.split('.')
  if (path.length === 1) return (object) => object[name]
  return (object) => {
    if (Object.hasOwn(object, name)) return object[name]
    let value: unknown = object
    for (const part of path) {
      if (!isRecord(value)) return undefined
      value = value[part]
    }
    return value
  }
}

/** Parses the object on a line; a string is the reason if there is none. */
export function parseRecord(line: string): JsonRecord | string {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : 'expected a JSON object'
  } catch (error) {
    return error instanceof Error ? toReason(error.message) : 'is not JSON'
  }
}

/** Removes the excerpt of the line from the message, because the report shows the line itself. */
function toReason(message: string): string {
  return `invalid JSON: ${message.replace(/, ".*" is not valid JSON$/s, '').replaceAll('\n', ' ')}`
}

/** Why a line has no time. */
export function toTimeReason(name: string, value: unknown): string {
  return value === undefined
    ? `there is no field ${name} with the time (use --time-field for another name)`
    : `the field ${name} is not a time: ${JSON.stringify(value)}`
}
