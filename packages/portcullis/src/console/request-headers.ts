import { ConsoleError } from './errors.ts'

export interface ReservedHeaders {
  readonly names: RegExp
  /** What sets these headers, in the plural, such as `the audits`. */
  readonly owner: string
}

/** Parses one `Name: value` per line. @throws {ConsoleError} with a message that says how to fix the input. */
export function parseHeaders(
  text: string,
  { names, owner }: ReservedHeaders,
): Readonly<Record<string, string>> {
  const headers = new Headers()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim()
    // The value may be a secret, so no message repeats it.
    if (name === '')
      throw refuse(`Line ${index + 1} of the headers must have the form Name: value.`)
    if (names.test(name)) throw refuse(`Remove the header ${name}: ${owner} set it.`)
    try {
      headers.append(name, line.slice(colon + 1).trim())
    } catch {
      throw refuse(`Line ${index + 1} of the headers contains characters that HTTP does not allow.`)
    }
  }
  return Object.fromEntries(headers)
}

function refuse(message: string): ConsoleError {
  return new ConsoleError(400, 'bad_header', message)
}
