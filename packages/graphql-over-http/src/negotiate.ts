/** The two media types a GraphQL response can have. */
export type MediaType = typeof GRAPHQL_TYPE | typeof JSON_TYPE

export const JSON_TYPE = 'application/json'
export const GRAPHQL_TYPE = 'application/graphql-response+json'

// Separators inside quoted strings do not count (RFC 9110, section 5.6.4).
const RANGES = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g
const PARAMETERS = /(?:[^;"]|"(?:\\.|[^"\\])*"?)+/g

/**
 * A media range in lower case, and its weight. The weight is NaN, which equals nothing, for a range
 * that asks for another charset than utf-8 (`utf8` is a common misspelling) or has a malformed one.
 */
function parseRange(text: string): readonly [type: string, quality: number] {
  const [type, ...parameters] = (text.toLowerCase().match(PARAMETERS) ?? []).map((part) =>
    part.replace(/[\s"]/g, ''),
  )
  let quality = 1
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=')
    if (name === 'charset' && !/^utf-?8$/.test(value)) return ['', Number.NaN]
    if (name === 'q') quality = /^\d/.test(value) ? Math.min(1, Number(value)) : Number.NaN
  }
  return [type ?? '', quality]
}

/**
 * Picks the response media type for an `Accept` header, or null when none is acceptable.
 *
 * The most specific range decides the quality of a type, the highest quality wins, and on a tie the
 * range that comes first. A wildcard that covers both types means JSON: whoever sends it (curl, a
 * browser) does not know the GraphQL media type.
 */
export function negotiate(accept: string | undefined): MediaType | null {
  const header = accept?.trim() || '*/*'
  if (header === '*/*' || header === JSON_TYPE) return JSON_TYPE
  if (header === GRAPHQL_TYPE) return header

  const ranges = (header.match(RANGES) ?? []).map(parseRange).filter(([, quality]) => quality >= 0)
  const types = ranges.map(([type]) => type)
  const find = (type: MediaType): readonly [quality: number, position: number] => {
    for (const wanted of [type, 'application/*', '*/*']) {
      const position = types.indexOf(wanted)
      const range = ranges[position]
      if (range) return [range[1], position]
    }
    return [0, 0]
  }

  const [json, jsonPosition] = find(JSON_TYPE)
  const [graphql, graphqlPosition] = find(GRAPHQL_TYPE)
  if (json + graphql === 0) return null
  return json > graphql || (json === graphql && jsonPosition <= graphqlPosition)
    ? JSON_TYPE
    : GRAPHQL_TYPE
}

/** Tells whether a request body of this `Content-Type` can be read: JSON in utf-8, nothing else. */
export function isJson(contentType = ''): boolean {
  return contentType === JSON_TYPE || parseRange(contentType)[0] === JSON_TYPE
}
