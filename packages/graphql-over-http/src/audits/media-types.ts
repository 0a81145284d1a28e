import type { AuditRow } from './audit.ts'
import { GRAPHQL_TYPE, JSON_TYPE, post } from './audit-request.ts'
import { contentType, status, utf8 } from './expect.ts'
import { hello } from './operations.ts'

/** Chapter "Serialization Format" of the HTTP spec: media types and encodings. */
export const mediaTypes: readonly AuditRow[] = [
  {
    id: '22EB',
    name: 'SHOULD accept application/graphql-response+json and match the content-type',
    request: post(hello, GRAPHQL_TYPE),
    expect: [status(200), contentType(GRAPHQL_TYPE)],
  },
  {
    id: '4655',
    name: 'MUST accept application/json and match the content-type',
    request: post(hello, JSON_TYPE),
    expect: [status(200), contentType(JSON_TYPE)],
  },
  {
    id: '47DE',
    name: 'SHOULD accept */* and use application/json for the content-type',
    request: post(hello, '*/*'),
    expect: [status(200), contentType(JSON_TYPE)],
  },
  {
    id: '80D8',
    name: 'SHOULD assume application/json content-type when accept is missing',
    request: post(hello),
    expect: [status(200), contentType(JSON_TYPE)],
  },
  {
    id: '82A3',
    name: 'MUST use utf-8 encoding when responding',
    request: post(hello),
    expect: [status(200), utf8({ fatal: false })],
  },
  {
    id: 'BF61',
    name: 'MUST accept utf-8 encoded request',
    request: post(
      { query: '{ __type(name: "Run🏃Swim🏊") { name } }' },
      undefined,
      'application/json; charset=utf-8',
    ),
    expect: [status(200)],
  },
  {
    id: '78D5',
    name: 'MUST assume utf-8 in request if encoding is unspecified',
    request: post(hello),
    expect: [status(200)],
  },
]
