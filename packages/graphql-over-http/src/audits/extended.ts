import type { AuditRow } from './audit.ts'
import { GRAPHQL_TYPE, get, JSON_TYPE, post } from './audit-request.ts'
import { contentType, has, lacks, noData, status, statusBetween, utf8 } from './expect.ts'
import { coercionFailure, hello, validationFailure, withVariables } from './operations.ts'

const variablesSearch = { ...withVariables, variables: JSON.stringify(withVariables.variables) }
const executed = [status(200), lacks('errors'), has('data')]

/**
 * Variants of audits among the 61 that cannot test what their names say, or that fail when
 * introspection is disabled. The comment beside each id names the original and its problem.
 */
export const extended: readonly AuditRow[] = [
  {
    id: 'X101', // 80D8: fetch always sends the header.
    name: 'SHOULD use application/json when the request really has no accept header',
    request: { ...post(hello), wire: 'without-accept' },
    expect: [status(200), contentType(JSON_TYPE)],
  },
  {
    id: 'X102', // 9ABE: fetch adds a text/plain content-type for text.
    name: 'SHOULD use a 4xx status code when a POST request really has no content-type header',
    request: { method: 'POST', body: JSON.stringify(hello), wire: 'bytes' },
    expect: [statusBetween([400, 499])],
  },
  {
    id: 'X103', // 82A3: lenient decoding never fails.
    name: 'MUST send a body of valid utf-8',
    request: post(hello),
    expect: [status(200), utf8({ fatal: true })],
  },
  {
    id: 'X104', // 82A3: most error messages for this repeat the literal, so the response has text outside ASCII.
    name: 'MUST send a body of valid utf-8 when the request has characters outside ASCII',
    request: post({ query: '{ __typename @skip(if: "Run🏃Swim🏊") }' }, GRAPHQL_TYPE),
    expect: [utf8({ fatal: true })],
  },
  {
    id: 'X105', // BF61: introspection; also, an error would have the status 200 too.
    name: 'MUST accept utf-8 in the query without needing introspection',
    request: post(
      { query: '# Run🏃Swim🏊\n{ __typename }' },
      JSON_TYPE,
      'application/json; charset=utf-8',
    ),
    expect: executed,
  },
  {
    id: 'X106', // 2EA1: introspection.
    name: 'SHOULD allow map {variables} without introspection when accepting application/graphql-response+json',
    request: post(withVariables, GRAPHQL_TYPE),
    expect: executed,
  },
  {
    id: 'X107', // 28B9: introspection.
    name: 'MUST allow map {variables} without introspection when accepting application/json',
    request: post(withVariables, JSON_TYPE),
    expect: executed,
  },
  {
    id: 'X108', // D6D5: introspection.
    name: 'MAY allow URL-encoded JSON {variables} in GETs without introspection when accepting application/graphql-response+json',
    request: get(variablesSearch, GRAPHQL_TYPE),
    expect: executed,
  },
  {
    id: 'X109', // 6A70: introspection.
    name: 'MAY allow URL-encoded JSON {variables} in GETs without introspection when accepting application/json',
    request: get(variablesSearch, JSON_TYPE),
    expect: executed,
  },
  {
    id: 'X110', // FDE2: a syntax error.
    name: 'SHOULD use 200 status code on an unknown field when accepting application/json',
    request: post(validationFailure, JSON_TYPE),
    expect: [status(200), has('errors')],
    profile: 'classic',
  },
  {
    id: 'X111', // 51FE: a syntax error.
    name: 'SHOULD use 4xx or 5xx status codes on an unknown field when accepting application/graphql-response+json',
    request: post(validationFailure, GRAPHQL_TYPE),
    expect: [statusBetween([400, 599])],
  },
  {
    id: 'X112', // 74FF: a syntax error.
    name: 'SHOULD use 400 status code on an unknown field when accepting application/graphql-response+json',
    request: post(validationFailure, GRAPHQL_TYPE),
    expect: [status(400)],
    profile: 'classic',
  },
  {
    id: 'X113', // 5E5B: a syntax error.
    name: 'SHOULD not contain the data entry on an unknown field when accepting application/graphql-response+json',
    request: post(validationFailure, GRAPHQL_TYPE),
    expect: [noData],
  },
  {
    id: 'X114', // 7B9B: fails validation before coercion.
    name: 'SHOULD use 200 status code on a used variable that cannot be coerced when accepting application/json',
    request: post(coercionFailure, JSON_TYPE),
    expect: [status(200), has('errors')],
    profile: 'classic',
  },
  {
    id: 'X115', // 86EE: fails validation before coercion.
    name: 'SHOULD use 400 status code on a used variable that cannot be coerced when accepting application/graphql-response+json',
    request: post(coercionFailure, GRAPHQL_TYPE),
    expect: [status(400)],
    profile: 'classic',
  },
]
