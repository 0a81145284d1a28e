/** The limits that protect the server from its clients. Each can be set separately. */
export interface Limits {
  /** Open connections; more are closed at once. */
  readonly connections: number
  /** Open connections from one IP address; more are closed at once. 0 for no limit. */
  readonly connectionsPerAddress: number
  /** Open calls per connection (SETTINGS_MAX_CONCURRENT_STREAMS); more are refused. */
  readonly concurrentStreams: number
  /** Bytes of one request message; a longer one is answered with RESOURCE_EXHAUSTED. */
  readonly messageBytes: number
  /** Bytes of incomplete requests and open streams per connection. */
  readonly bufferedRequestBytes: number
  /** The same for all connections together; beyond it, the connections that use most are closed. */
  readonly totalBufferedRequestBytes: number
  /**
   * How many bytes compressed messages may be decompressed to, per second and connection, in addition
   * to 64 bytes for each compressed byte. Ordinary text therefore never reaches this limit.
   */
  readonly decompressedBytesPerSecond: number
  /** Bytes of DATA per second and connection for calls that the server has ended. */
  readonly discardedBytesPerSecond: number
  /** Decoded size of a request's header fields (SETTINGS_MAX_HEADER_LIST_SIZE). */
  readonly headerListBytes: number
  /** Encoded size of a header block over all its frames. */
  readonly headerBlockBytes: number
  /** CONTINUATION frames of one header block. */
  readonly continuationFrames: number
  /** Bytes of responses per connection that the peer's flow-control windows hold back. */
  readonly heldBackBytes: number
  /**
   * Bytes of responses, on all connections together, that peers have not read: held back, or
   * written and not read. Beyond it, the connections with most of them are closed.
   */
  readonly totalUnsentBytes: number
  /** Milliseconds for which responses may be held back without progress. */
  readonly heldBackTimeoutMs: number
  /**
   * Written bytes that the peer has not read; beyond it, nothing more is read from the peer. At
   * least the high-water mark of its socket.
   */
  readonly unsentBytes: number
  /** How long the peer may leave that many bytes unread, in milliseconds. */
  readonly unsentTimeoutMs: number
  /** Milliseconds for the TLS handshake, and as many for the preface and the first SETTINGS. */
  readonly prefaceTimeoutMs: number
  /** Milliseconds from the first to the last byte of a frame, or of a header block. */
  readonly frameTimeoutMs: number
  /** Milliseconds from the headers of a unary call to the end of its message. */
  readonly requestTimeoutMs: number
  /** Milliseconds without data from the peer before it is sent a PING. */
  readonly keepaliveMs: number
  /** Milliseconds that the peer has to acknowledge that PING. */
  readonly keepaliveTimeoutMs: number
  /** Calls cancelled before they were answered and before their deadline, per second. */
  readonly resetsPerSecond: number
  /** Calls beyond `concurrentStreams`, or after the last GOAWAY, per second. */
  readonly refusedStreamsPerSecond: number
  /** Requests with more header fields than `headerListBytes`, per second. */
  readonly largeHeadersPerSecond: number
  /** Frames that violate the rules of one stream, or are sent for a closed one, per second. */
  readonly streamErrorsPerSecond: number
  /** SETTINGS frames per second. */
  readonly settingsPerSecond: number
  /*
   * Legitimate clients send the following frames too (a sender that measures bandwidth sends a PING
   * every round trip, a reader opens its windows), so each call of the same second allows a few more,
   * and long responses do so for PING and WINDOW_UPDATE.
   */
  /** PING frames per second. */
  readonly pingsPerSecond: number
  /** DATA frames without content per second. */
  readonly emptyDataPerSecond: number
  /** DATA frames of a few bytes that do not end a request, per second. */
  readonly smallDataPerSecond: number
  /** PRIORITY frames per second. */
  readonly prioritiesPerSecond: number
  /** WINDOW_UPDATE frames per second. */
  readonly windowUpdatesPerSecond: number
  /** Resets of calls that were already answered, per second. */
  readonly lateResetsPerSecond: number
  /** Frames without effect, such as those of unknown type, per second. */
  readonly strayFramesPerSecond: number
}

/** The limits of a server that does not set them. */
export const defaultLimits: Limits = {
  connections: 16_384,
  connectionsPerAddress: 0,
  concurrentStreams: 1024,
  messageBytes: 4 * 2 ** 20,
  bufferedRequestBytes: 16 * 2 ** 20,
  totalBufferedRequestBytes: 128 * 2 ** 20,
  decompressedBytesPerSecond: 16 * 2 ** 20,
  discardedBytesPerSecond: 16 * 2 ** 20,
  // 64 KiB of metadata, and room for the HTTP/2 fields and the overhead of each field.
  headerListBytes: 80 * 1024,
  headerBlockBytes: 96 * 1024,
  continuationFrames: 8,
  heldBackBytes: 16 * 2 ** 20,
  totalUnsentBytes: 128 * 2 ** 20,
  heldBackTimeoutMs: 20_000,
  unsentBytes: 2 ** 20,
  unsentTimeoutMs: 20_000,
  prefaceTimeoutMs: 10_000,
  frameTimeoutMs: 20_000,
  requestTimeoutMs: 60_000,
  keepaliveMs: 60_000,
  keepaliveTimeoutMs: 20_000,
  resetsPerSecond: 500,
  refusedStreamsPerSecond: 1000,
  largeHeadersPerSecond: 50,
  streamErrorsPerSecond: 100,
  settingsPerSecond: 50,
  pingsPerSecond: 500,
  emptyDataPerSecond: 500,
  smallDataPerSecond: 2000,
  prioritiesPerSecond: 500,
  windowUpdatesPerSecond: 2000,
  lateResetsPerSecond: 500,
  strayFramesPerSecond: 500,
}
