import { readBodyCopy } from './body.ts'

const MAX_TEXT_LENGTH = 5120

/**
 * Placeholders for header values that change from run to run, or that a report must not contain.
 */
const HEADER_PLACEHOLDERS: { readonly [name: string]: string } = {
  date: '<timestamp>',
  expires: '<timestamp>',
  'cf-ray': '<omitted>',
  'server-timing': '<omitted>',
  'set-cookie': '<omitted>',
  age: '<omitted>',
}

export interface ResponseSummary {
  readonly statusText: string
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: unknown
}

/** The parts of a response that a report shows. The response stays readable. */
export async function summarizeResponse(response: Response): Promise<ResponseSummary> {
  const headers = [...response.headers].map(
    ([name, value]) => [name, HEADER_PLACEHOLDERS[name] ?? value] as const,
  )
  return {
    statusText: response.statusText,
    status: response.status,
    headers: Object.fromEntries(headers),
    body: await summarizeBody(response),
  }
}

/** Two-space JSON with the keys of every object in reverse alphabetical order. */
export function toReportJson(summary: ResponseSummary): string {
  return JSON.stringify(sortKeys(summary), null, 2)
}

async function summarizeBody(response: Response): Promise<unknown> {
  if (response.bodyUsed) return '<body already read>'
  let bytes: Uint8Array | undefined
  try {
    bytes = await readBodyCopy(response)
  } catch {
    return '<body could not be read>'
  }
  if (!bytes) return '<body is too long>'
  const text = new TextDecoder().decode(bytes)
  if (text === '') return null
  try {
    const value: unknown = JSON.parse(text)
    // JSON that is nested too deeply to be serialized again is shown as text.
    JSON.stringify(sortKeys(value), null, 2)
    return value
  } catch {
    if (response.headers.get('content-type')?.includes('text/html')) return '<html omitted>'
    return text.length > MAX_TEXT_LENGTH ? '<body is too long>' : text
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? 1 : -1))
  return Object.fromEntries(entries.map(([key, entry]) => [key, sortKeys(entry)]))
}
