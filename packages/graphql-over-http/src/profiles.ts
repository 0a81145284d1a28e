import { GRAPHQL_TYPE, JSON_TYPE, type MediaType } from './negotiate.ts'

/** How a request can end, as far as the status is concerned. */
export type Outcome =
  /** No body, a body that is not JSON, or one that `parseRequestParams` refused. */
  | 'unreadable'
  /** JSON, but not the parameters of a GraphQL request. */
  | 'malformed'
  /** The document does not parse. */
  | 'syntax'
  /**
   * The request cannot be executed (validation, operation, variables), so the response has no
   * `data`.
   */
  | 'invalid'
  /** A mutation over GET. */
  | 'unsafe'
  /** Executed, with field errors. */
  | 'partial'
  | 'success'

type Row = readonly [
  statusWhenJson: number,
  statusWhenGraphql: number,
  /**
   * The media type of the response. When omitted, the accepted type; when null, there is no header.
   */
  type?: MediaType | null,
]

/**
 * Which status codes are used: those of graphql-http and the drafts until 2025, or those of the
 * 2026 draft.
 */
export type ProfileName = 'classic' | '2026'

export type Profile = Readonly<Record<Outcome, Row>>

/**
 * Statuses per outcome, for clients that accept `application/json` and for clients that accept the
 * newer type.
 */
export const profiles: Readonly<Record<ProfileName, Profile>> = {
  /**
   * The status codes of graphql-http and the drafts up to 2025: mostly 200 with `application/json`.
   */
  classic: {
    unreadable: [400, 400, JSON_TYPE],
    malformed: [400, 400, JSON_TYPE],
    syntax: [200, 400],
    invalid: [200, 400],
    unsafe: [405, 405, null],
    partial: [200, 200],
    success: [200, 200],
  },
  /**
   * The draft of August 2026: the status shows the outcome, and only 2xx responses use
   * `application/json`.
   */
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
