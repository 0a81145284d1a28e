import type { AuditRow } from './audit.ts'
import { GRAPHQL_TYPE, get, JSON_TYPE, post } from './audit-request.ts'
import { lacks, status } from './expect.ts'
import { hello, typeByName } from './operations.ts'

export type InvalidType = 'object' | 'string' | 'number' | 'boolean' | 'array'

const wrongValues: { readonly [kind in InvalidType]: unknown } = {
  object: { obj: 'ect' },
  string: 'string',
  number: 0,
  boolean: false,
  array: ['array'],
}

/** The JSON types that are invalid for each parameter. */
export const invalidTypes: { readonly [param: string]: readonly InvalidType[] } = {
  query: ['object', 'number', 'boolean', 'array'],
  operationName: ['object', 'number', 'boolean', 'array'],
  variables: ['string', 'number', 'boolean', 'array'],
  extensions: ['string', 'number', 'boolean', 'array'],
}

/** A request that is valid except for one parameter. */
export function withInvalid(param: string, kind: InvalidType): object {
  const wrong = { [param]: wrongValues[kind] }
  return param === 'operationName' ? { ...wrong, ...hello } : { ...hello, ...wrong }
}

/** One row for each invalid type; the 2026 draft requires 422 instead. */
function refusals(idPrefix: string, param: string): AuditRow[] {
  return (invalidTypes[param] ?? []).map((kind, index) => ({
    id: `${idPrefix}${index}`,
    name: `MAY use 400 status code on ${kind} {${param}} parameter`,
    request: post(withInvalid(param, kind)),
    expect: [status(400)],
    profile: 'classic',
  }))
}

/**
 * The same request for either response type. With `application/json` the status alone proves
 * little, so the body is checked too.
 */
function acceptances(
  graphqlId: string,
  jsonId: string,
  what: string,
  params: object,
  graphqlExpect = [status(200)],
): AuditRow[] {
  return [
    {
      id: graphqlId,
      name: `SHOULD allow ${what} parameter when accepting application/graphql-response+json`,
      request: post(params, GRAPHQL_TYPE),
      expect: graphqlExpect,
    },
    {
      id: jsonId,
      name: `MUST allow ${what} parameter when accepting application/json`,
      request: post(params, JSON_TYPE),
      expect: [status(200), lacks('errors')],
    },
  ]
}

function nullAcceptances(graphqlId: string, jsonId: string, param: string): AuditRow[] {
  return acceptances(graphqlId, jsonId, `null {${param}}`, { ...hello, [param]: null }, [
    status(200),
    lacks('errors'),
  ])
}

const typeSearch = { ...typeByName, variables: JSON.stringify(typeByName.variables) }

/** Chapter "Request Parameters" of the HTTP spec. */
export const parameters: readonly AuditRow[] = [
  {
    id: 'A5BF',
    name: 'MAY use 400 status code when request body is missing on POST',
    request: post(undefined),
    expect: [status(400)],
  },
  {
    id: '423L',
    name: 'MAY use 400 status code on missing {query} parameter',
    request: post({ notquery: hello.query }, GRAPHQL_TYPE),
    expect: [status(400)],
    profile: 'classic',
  },
  ...refusals('LKJ', 'query'),
  ...acceptances('34A2', '13EE', 'string {query}', hello),
  ...refusals('6C0', 'operationName'),
  ...acceptances('8161', 'B8B3', 'string {operationName}', {
    operationName: 'Query',
    query: 'query Query { __typename }',
  }),
  ...nullAcceptances('94B0', '0220', 'variables'),
  ...nullAcceptances('94B1', '0221', 'operationName'),
  ...nullAcceptances('94B2', '0222', 'extensions'),
  ...refusals('476', 'variables'),
  ...acceptances('2EA1', '28B9', 'map {variables}', typeByName),
  {
    id: 'D6D5',
    name: 'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
    request: get(typeSearch, GRAPHQL_TYPE),
    expect: [status(200), lacks('errors')],
  },
  {
    id: '6A70',
    name: 'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
    request: get(typeSearch, JSON_TYPE),
    expect: [status(200), lacks('errors')],
  },
  ...refusals('58B', 'extensions'),
  ...acceptances('428F', '1B7A', 'map {extensions}', { ...hello, extensions: { some: 'value' } }),
]
