/** Every bound that protects the server from its peers. All may be set one by one. */
export interface Limits {
  /** Open connections; more are closed at once. */
  readonly connections: number
  /** Open calls per connection (SETTINGS_MAX_CONCURRENT_STREAMS); more are refused. */
  readonly concurrentStreams: number
  /** Bytes of one request message; a longer one is answered with RESOURCE_EXHAUSTED. */
  readonly messageBytes: number
  /** Bytes of request messages not yet whole, per connection. */
  readonly bufferedRequestBytes: number
  /** Decoded size of a request's header fields (SETTINGS_MAX_HEADER_LIST_SIZE). */
  readonly headerListBytes: number
  /** Encoded size of a header block over all its frames. */
  readonly headerBlockBytes: number
  /** CONTINUATION frames of one header block. */
  readonly continuationFrames: number
  /** Bytes of answers per connection that the peer's flow-control windows do not let out. */
  readonly heldBackBytes: number
  /** How long answers may be held back without any progress. */
  readonly heldBackTimeoutMs: number
  /**
   * Bytes written that the peer does not read, before nothing more is read from it; at least the
   * high-water mark of its socket.
   */
  readonly unsentBytes: number
  /** How long it may stay that way. */
  readonly unsentTimeoutMs: number
  /** For the TLS handshake, and then for the preface and the first SETTINGS. */
  readonly prefaceTimeoutMs: number
  /** From the first to the last byte of a frame, or of a header block. */
  readonly frameTimeoutMs: number
  /** From the headers of a unary call to the end of its message. */
  readonly requestTimeoutMs: number
  /** Silence after which the peer is asked for a sign of life. */
  readonly keepaliveMs: number
  /** How long it may take to give one. */
  readonly keepaliveTimeoutMs: number
  /** Calls cancelled before they were answered and before their deadline, per second. */
  readonly resetsPerSecond: number
  /** Frames that break the rules of one stream, or come for a closed one, per second. */
  readonly streamErrorsPerSecond: number
  readonly settingsPerSecond: number
  /*
   * The next ones go with honest work too (a sender that measures bandwidth pings every round
   * trip, a reader opens its windows), so each call of the same second allows a few more, and long
   * answers do for PING and WINDOW_UPDATE.
   */
  readonly pingsPerSecond: number
  readonly emptyDataPerSecond: number
  readonly prioritiesPerSecond: number
  readonly windowUpdatesPerSecond: number
  /** Frames that change nothing: of unknown type, or a reset of a stream that is over. */
  readonly strayFramesPerSecond: number
}

export const defaultLimits: Limits = {
  connections: 16_384,
  concurrentStreams: 1024,
  messageBytes: 4 * 2 ** 20,
  bufferedRequestBytes: 16 * 2 ** 20,
  headerListBytes: 16_384,
  headerBlockBytes: 32_768,
  continuationFrames: 8,
  heldBackBytes: 16 * 2 ** 20,
  heldBackTimeoutMs: 20_000,
  unsentBytes: 2 ** 20,
  unsentTimeoutMs: 20_000,
  prefaceTimeoutMs: 10_000,
  frameTimeoutMs: 20_000,
  requestTimeoutMs: 60_000,
  keepaliveMs: 60_000,
  keepaliveTimeoutMs: 20_000,
  resetsPerSecond: 500,
  streamErrorsPerSecond: 100,
  settingsPerSecond: 50,
  pingsPerSecond: 500,
  emptyDataPerSecond: 500,
  prioritiesPerSecond: 500,
  windowUpdatesPerSecond: 2000,
  strayFramesPerSecond: 500,
}
