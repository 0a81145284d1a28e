import type { Readable } from 'node:stream'
import { ImportError } from '../import-error.ts'
import type { RawRecord } from './read-jsonl.ts'

/**
 * Reads a CSV file (RFC 4180) in UTF-8. The first record has the names of the fields. Empty values
 * count as missing.
 */
export async function* readCsv(input: Readable): AsyncGenerator<RawRecord> {
  let names: readonly string[] | undefined
  for await (const { line, values } of readRecords(input)) {
    if (names === undefined) {
      names = values.map((name) => name.trim())
      continue
    }
    if (values.length === 1 && values[0] === '') continue
    if (values.length !== names.length) {
      const flaw = `it has ${values.length} fields, but the first line has ${names.length}`
      yield { line, fields: {}, flaw }
      continue
    }
    const pairs = names.map((name, at) => [name, values[at]] as const)
    yield { line, fields: Object.fromEntries(pairs.filter(([, value]) => value !== '')) }
  }
}

interface CsvRecord {
  /** The number of the record's first line. */
  readonly line: number
  readonly values: readonly string[]
}

/** @throws {ImportError} if the file ends within quotes. */
async function* readRecords(input: Readable): AsyncGenerator<CsvRecord> {
  let values: string[] = []
  let value = ''
  let isQuoted = false
  /** Whether the last character was a quote. It ends the value, or is the first of two. */
  let isAfterQuote = false
  let line = 1
  let firstLine = 1
  let isFirst = true
  const end = (): CsvRecord => {
    const record = { line: firstLine, values: [...values, value] }
    values = []
    value = ''
    firstLine = line
    return record
  }
  for await (const chunk of input.setEncoding('utf8')) {
    const text: string = isFirst ? String(chunk).replace(/^\uFEFF/, '') : String(chunk)
    isFirst = false
    for (const character of text) {
      if (character === '\n') line += 1
      if (isAfterQuote) {
        isAfterQuote = false
        if (character === '"') {
          value += '"'
          continue
        }
        isQuoted = false
      } else if (isQuoted) {
        if (character === '"') isAfterQuote = true
        else value += character
        continue
      }
      if (character === '"' && value === '') isQuoted = true
      else if (character === ',') {
        values.push(value)
        value = ''
      } else if (character === '\n') yield end()
      else if (character !== '\r') value += character
    }
  }
  if (isQuoted && !isAfterQuote) {
    throw new ImportError(
      `The record that starts in line ${firstLine} has an opening quote without a closing quote. Add it, or write ` +
        'a quote inside a value twice.',
    )
  }
  if (value !== '' || values.length > 0) yield end()
}
