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
      return twice === undefined ? done(null, toObject(fields)) : done(toRepeatedError(twice))
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

function findRepeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index)
}

/** @throws {ApiError} if a parameter of the query occurs twice. */
export function refuseRepeated(query: unknown): void {
  const repeated = Object.entries(Object(query)).find(([, value]) => Array.isArray(value))
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
