type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds a member by its name, or by a path of names with dots between them. */
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

/** The object on a line, or why there is none. */
export function parseRecord(line: string): JsonRecord | string {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : 'a JSON object is expected'
  } catch (error) {
    return error instanceof Error ? toReason(error.message) : 'is no JSON'
  }
}

/** Without the part of the line that the message repeats: the report shows the line itself. */
function toReason(message: string): string {
  return `no JSON: ${message.replace(/, ".*" is not valid JSON$/s, '').replaceAll('\n', ' ')}`
}

/** Why a line has no time. */
export function toTimeReason(name: string, value: unknown): string {
  return value === undefined
    ? `there is no field ${name} with the time (another name: --time-field)`
    : `the field ${name} is no time: ${JSON.stringify(value)}`
}
