import { toReason } from '@portcullis/service-kit/text/reason'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, invalid } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    takesForms?: boolean
    oauth?: 'api' | 'page' | undefined
    scim?: boolean
  }
}

/**
 * Parses bodies as JSON regardless of their content type, as Supabase Auth does, and as forms if
 * the endpoint accepts them.
 */
export function addBodyParser(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
    if (isForm(request)) {
      const fields = new URLSearchParams(`${text}`)
      const twice = request.routeOptions.config.oauth && findRepeated([...fields.keys()])
      if (twice !== undefined) return done(toRepeatedError(twice))
      return done(null, joinResources(toObject(fields), fields.getAll(repeatable)))
    }
    try {
      // The body of a DELETE may be empty.
      done(null, text === '' ? {} : dropNulls(JSON.parse(`${text}`)))
    } catch (error) {
      done(new ApiError('bad_json', `Could not parse request body as JSON: ${toReason(error)}`))
    }
  })
}

function isForm({ headers, routeOptions }: FastifyRequest): boolean {
  const isFormType = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')
  return isFormType && routeOptions.config.takesForms === true
}

/** Keeps the first value if a field occurs several times. */
function toObject(fields: URLSearchParams): Readonly<Record<string, string>> {
  // Without a prototype, so that a key such as __proto__ is an ordinary key.
  const object: Record<string, string> = Object.create(null)
  for (const [name, value] of fields) object[name] ??= value
  return object
}

/** RFC 8707, section 2: a request of an OAuth client can name several resources. */
export const repeatable = 'resource'

/** The values of the parameter that can occur several times, separated by spaces, which URLs do not contain. */
function joinResources<Fields extends object>(fields: Fields, values: readonly string[]): Fields {
  return values.length > 1 ? { ...fields, [repeatable]: values.join(' ') } : fields
}

function findRepeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => name !== repeatable && names.indexOf(name) !== index)
}

/** @throws {ApiError} if a parameter of the query occurs twice. */
export function refuseRepeated(query: unknown): void {
  const repeated = Object.entries(Object(query)).find(
    ([name, value]) => name !== repeatable && Array.isArray(value),
  )
  if (repeated !== undefined) throw toRepeatedError(repeated[0])
}

function toRepeatedError(name: string): ApiError {
  return invalid(`The parameter ${name.slice(0, 64)} occurs more than once`, {
    oauthError: 'invalid_request',
  })
}

/**
 * The Supabase client sends null for omitted fields. Null is kept below the top level, where it has
 * a meaning.
 */
function dropNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  // Without a prototype, so that a key such as __proto__ is an ordinary key.
  const kept: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(body)) if (value !== null) kept[key] = value
  return kept
}
