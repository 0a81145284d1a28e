import type { RequestHead } from './request-head.ts'
import type { Stream, StreamConnection } from './stream.ts'

/** The handler of a request. It is looked up once for each header block and cached with it. */
export interface Route {
  open(connection: StreamConnection, id: number, head: RequestHead): Stream
}

/** The layer above HTTP/2, which finds a route for every well-formed request. */
export interface Application {
  route(head: RequestHead): Route
  /** For a request whose header fields exceed the limit and are therefore incomplete. */
  readonly tooLarge: Route
}
