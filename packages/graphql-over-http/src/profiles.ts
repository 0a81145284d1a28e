import { GRAPHQL_TYPE, JSON_TYPE, type MediaType } from './negotiate.ts'

/** How a request can end, as far as its status is concerned. */
export type Outcome =
  /** No body, a body that is not JSON, or one that `parseRequestParams` refused. */
  | 'unreadable'
  /** JSON, but not the parameters of a GraphQL request. */
  | 'malformed'
  /** The document does not parse. */
  | 'syntax'
  /** The request cannot be executed: validation, operation, variables; no `data` in the answer. */
  | 'invalid'
  /** A mutation over GET. */
  | 'unsafe'
  /** Executed, with field errors. */
  | 'partial'
  | 'success'

type Row = readonly [
  statusWhenJson: number,
  statusWhenGraphql: number,
  /** Of the answer; the accepted one when left out, no header at all when null. */
  type?: MediaType | null,
]

/**
 * Which status codes are used: those of graphql-http and the drafts until 2025, or those of the draft of
 * 2026.
 */
export type ProfileName = 'classic' | '2026'

export type Profile = Readonly<Record<Outcome, Row>>

/** Statuses per outcome, for who accepts `application/json` and for who accepts the newer type. */
export const profiles: Readonly<Record<ProfileName, Profile>> = {
  /** What graphql-http and the drafts up to 2025 answer: with `application/json`, mostly 200. */
  classic: {
    unreadable: [400, 400, JSON_TYPE],
    malformed: [400, 400, JSON_TYPE],
    syntax: [200, 400],
    invalid: [200, 400],
    unsafe: [405, 405, null],
    partial: [200, 200],
    success: [200, 200],
  },
  /** The draft of August 2026: the status tells, and only 2xx answers are labelled JSON. */
  2026: {
    unreadable: [400, 400, GRAPHQL_TYPE],
    malformed: [422, 422, GRAPHQL_TYPE],
    syntax: [400, 400, GRAPHQL_TYPE],
    invalid: [422, 422, GRAPHQL_TYPE],
    unsafe: [405, 405, GRAPHQL_TYPE],
    partial: [200, 294],
    success: [200, 200],
  },
}

export const STATUS_TEXT: { readonly [status: number]: string } = {
  200: 'OK',
  294: 'Partial Success',
  400: 'Bad Request',
  405: 'Method Not Allowed',
  422: 'Unprocessable Content',
}
