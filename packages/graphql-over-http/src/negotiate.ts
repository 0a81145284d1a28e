import { createGenerations } from './generations.ts'

/** The two media types a GraphQL response can have. */
export type MediaType = typeof GRAPHQL_TYPE | typeof JSON_TYPE

export const JSON_TYPE = 'application/json'
export const GRAPHQL_TYPE = 'application/graphql-response+json'

export type Range = readonly [type: string, quality: number]

// Separators inside quoted strings are not separators (RFC 9110, section 5.6.4).
const RANGES = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g

// RFC 9110, sections 8.3.1 and 5.6.6. A semicolon need not be followed by a parameter.
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const PARAMETER = `(${TOKEN})=(${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`
const PARAMETERS = new RegExp(PARAMETER, 'g')
const MEDIA_TYPE = new RegExp(
  `^[ \\t]*(${TOKEN}/${TOKEN})[ \\t]*((?:;[ \\t]*(?:${PARAMETER}[ \\t]*)?)*)$`,
)

/**
 * A media type or range in lower case, and its weight. The weight is negative if the charset is not
 * utf-8 (`utf8` is accepted as a common misspelling), the weight is malformed, or the text does not
 * follow the grammar.
 */
export function parseRange(text: string): Range {
  const [, type, parameters = ''] = MEDIA_TYPE.exec(text.toLowerCase()) ?? []
  if (type === undefined) return ['', -1]
  let quality = 1
  for (const [, name, text = ''] of parameters.matchAll(PARAMETERS)) {
    const value = text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text
    if (name === 'charset' && !/^utf-?8$/.test(value)) return ['', -1]
    if (name === 'q') quality = /^\d+(\.\d*)?$/.test(value) ? Math.min(1, Number(value)) : -1
  }
  return [type, quality]
}

/**
 * Picks the response media type for an `Accept` header, or null when none is acceptable.
 *
 * The most specific range decides the quality of a type, and the highest quality wins. On a tie, the
 * type whose range comes first wins. A wildcard covers both types and means JSON, because clients
 * that send only a wildcard (curl, browsers) do not know the GraphQL media type.
 */
export function negotiate(accept: string | undefined): MediaType | null {
  const header = accept?.trim() || '*/*'
  const known = answers.get(header)
  if (known) return known
  const answer = chooseType(header)
  // Clients send the same few headers over and over. Long headers are not cached, to bound the
  // memory.
  if (answer && header.length < 200) answers.set(header, answer)
  return answer
}

const answers = createGenerations<MediaType>(100, 10_000)

function chooseType(header: string): MediaType | null {
  const ranges = (header.match(RANGES) ?? []).map(parseRange).filter(([, quality]) => quality >= 0)
  const find = (type: MediaType): readonly [quality: number, position: number] => {
    const names = [type, 'application/*', '*/*']
    const matches = names.map((name) => ranges.find(([range]) => range === name))
    const quality = matches.find(Boolean)?.[1] ?? 0
    const isEqual = ([range, other]: Range) => other === quality && names.includes(range)
    return [quality, ranges.findIndex(isEqual)]
  }
  const [json, jsonPosition] = find(JSON_TYPE)
  const [graphql, graphqlPosition] = find(GRAPHQL_TYPE)
  if (json + graphql === 0) return null
  return json > graphql || (json === graphql && jsonPosition <= graphqlPosition)
    ? JSON_TYPE
    : GRAPHQL_TYPE
}

/** Whether a request body with this `Content-Type` can be read: only JSON in utf-8. */
export function isJson(contentType = ''): boolean {
  const isUsual = /^application\/json(; ?charset=utf-8)?$/i.test(contentType)
  return isUsual || parseRange(contentType)[0] === JSON_TYPE
}
