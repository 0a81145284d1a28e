import type { RequestHead } from './request-head.ts'
import type { Stream, StreamConnection } from './stream.ts'

/** Who answers a request. Found once for each header block and kept with it. */
export interface Route {
  open(connection: StreamConnection, id: number, head: RequestHead): Stream
}

/** What the server does with HTTP/2: the layer above finds a route for every well-formed request. */
export interface Application {
  route(head: RequestHead): Route
  /** For a request whose header fields are more than the limit, and so not all known. */
  readonly tooLarge: Route
}
