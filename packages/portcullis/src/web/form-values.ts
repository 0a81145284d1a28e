import { FieldError } from './components/field.tsx'
import { parseJsonObject } from './json-object.ts'

/** Returns the trimmed text of a field. */
export function readText(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** Returns the words of a field, which are separated by spaces, commas or line breaks. */
export function readWords(form: FormData, name: string): readonly string[] {
  return readText(form, name)
    .split(/[\s,]+/)
    .filter((word) => word !== '')
}

/** Returns the lines of a field, without empty ones. */
export function readLines(form: FormData, name: string): readonly string[] {
  return readText(form, name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Parses a JSON object; an empty field is an empty object. @throws {FieldError} */
export function readJsonObject(form: FormData, name: string): Readonly<Record<string, unknown>> {
  const text = readText(form, name)
  if (text === '') return {}
  const parsed = parseJsonObject(text)
  if ('value' in parsed) return parsed.value
  const { line, column, message } = parsed.fault
  throw new FieldError(name, `Line ${line}, column ${column}: ${message}.`)
}
