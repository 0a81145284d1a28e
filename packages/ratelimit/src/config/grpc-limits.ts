import { defaultLimits, type Limits } from '@portcullis/grpc-unary'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  type Chapter,
  duration,
  integer,
  type Settings,
  type Variable,
} from '@portcullis/service-kit/settings/env'

const mostBytes = 2 ** 40
const mostOfOne = 2 ** 31 - 1

function count(name: string, limit: keyof Limits, help: string, min = 1): Variable<number> {
  return integer(name, defaultLimits[limit], help, { min, max: mostOfOne })
}

function bytes(name: string, limit: keyof Limits, help: string, min = 1): Variable<number> {
  return integer(name, defaultLimits[limit], help, { min, max: mostBytes })
}

function time(name: string, limit: keyof Limits, help: string): Variable<number> {
  return duration(name, `${defaultLimits[limit] / 1000}s`, help)
}

/** Every limit of the gRPC server, under the name that `Limits` gives it. Rates are per connection. */
const variables = {
  connections: count('GRPC_MAX_CONNECTIONS', 'connections', 'Open gRPC connections per process'),
  connectionsPerAddress: count(
    'GRPC_MAX_CONNECTIONS_PER_ADDRESS',
    'connectionsPerAddress',
    'Open gRPC connections from one IP address, across all workers; 0: no limit',
    0,
  ),
  concurrentStreams: count(
    'GRPC_MAX_CONCURRENT_STREAMS',
    'concurrentStreams',
    'Open calls per connection',
  ),
  // A decompressed message must fit into one buffer, and the size of a buffer is limited.
  messageBytes: integer(
    'GRPC_MAX_MESSAGE_BYTES',
    defaultLimits.messageBytes,
    'Bytes of one request message, before and after decompression',
    { min: 1, max: 2 ** 30 },
  ),
  bufferedRequestBytes: bytes(
    'GRPC_MAX_BUFFERED_REQUEST_BYTES',
    'bufferedRequestBytes',
    'Bytes of incomplete requests and open streams, per connection',
  ),
  totalBufferedRequestBytes: bytes(
    'GRPC_MAX_TOTAL_BUFFERED_REQUEST_BYTES',
    'totalBufferedRequestBytes',
    'Bytes of incomplete requests and open streams, per process',
  ),
  decompressedBytesPerSecond: bytes(
    'GRPC_MAX_DECOMPRESSED_BYTES_PER_SECOND',
    'decompressedBytesPerSecond',
    'Bytes of decompressed messages per second in excess of 64 times their compressed size',
  ),
  discardedBytesPerSecond: bytes(
    'GRPC_MAX_DISCARDED_BYTES_PER_SECOND',
    'discardedBytesPerSecond',
    'Bytes per second of request messages whose calls have ended, such as refused ones',
  ),
  headerListBytes: bytes(
    'GRPC_MAX_HEADER_LIST_BYTES',
    'headerListBytes',
    'Decoded size of the header fields (metadata) of a request, plus 32 bytes for each field',
  ),
  headerBlockBytes: bytes(
    'GRPC_MAX_HEADER_BLOCK_BYTES',
    'headerBlockBytes',
    'Encoded size of the header fields of a request, when they span several frames',
  ),
  continuationFrames: count(
    'GRPC_MAX_CONTINUATION_FRAMES',
    'continuationFrames',
    'CONTINUATION frames for the header fields of a request',
  ),
  heldBackBytes: bytes(
    'GRPC_MAX_HELD_BACK_BYTES',
    'heldBackBytes',
    "Bytes of responses per connection that are held back by the client's flow control",
  ),
  totalUnsentBytes: bytes(
    'GRPC_MAX_TOTAL_UNSENT_BYTES',
    'totalUnsentBytes',
    'Bytes of responses that clients have not read, per process',
  ),
  heldBackTimeoutMs: time(
    'GRPC_HELD_BACK_TIMEOUT',
    'heldBackTimeoutMs',
    'How long responses may be held back by flow control without any progress',
  ),
  unsentBytes: bytes(
    'GRPC_MAX_UNSENT_BYTES',
    'unsentBytes',
    'Bytes written to a connection that the client has not read',
  ),
  unsentTimeoutMs: time(
    'GRPC_UNSENT_TIMEOUT',
    'unsentTimeoutMs',
    'How long a connection may stay above GRPC_MAX_UNSENT_BYTES',
  ),
  prefaceTimeoutMs: time(
    'GRPC_PREFACE_TIMEOUT',
    'prefaceTimeoutMs',
    'Time for the TLS handshake, and again for the first frames',
  ),
  frameTimeoutMs: time(
    'GRPC_FRAME_TIMEOUT',
    'frameTimeoutMs',
    'Time from the first to the last byte of a frame or of the header fields of a request',
  ),
  requestTimeoutMs: time(
    'GRPC_REQUEST_TIMEOUT',
    'requestTimeoutMs',
    'Time from the header fields of a request to the end of its message',
  ),
  keepaliveMs: time(
    'GRPC_KEEPALIVE_TIME',
    'keepaliveMs',
    'Idle time after which the server sends a keepalive PING',
  ),
  keepaliveTimeoutMs: time(
    'GRPC_KEEPALIVE_TIMEOUT',
    'keepaliveTimeoutMs',
    'Time to acknowledge the keepalive PING',
  ),
  resetsPerSecond: count(
    'GRPC_MAX_RESETS_PER_SECOND',
    'resetsPerSecond',
    'Calls that the client cancels before the response and before their deadline',
  ),
  lateResetsPerSecond: count(
    'GRPC_MAX_LATE_RESETS_PER_SECOND',
    'lateResetsPerSecond',
    'Calls that the client cancels after the response; every second call allows one more',
  ),
  refusedStreamsPerSecond: count(
    'GRPC_MAX_REFUSED_STREAMS_PER_SECOND',
    'refusedStreamsPerSecond',
    'Calls beyond GRPC_MAX_CONCURRENT_STREAMS or on a connection that the server is closing',
  ),
  largeHeadersPerSecond: count(
    'GRPC_MAX_LARGE_HEADERS_PER_SECOND',
    'largeHeadersPerSecond',
    'Requests whose header fields exceed GRPC_MAX_HEADER_LIST_BYTES',
  ),
  streamErrorsPerSecond: count(
    'GRPC_MAX_STREAM_ERRORS_PER_SECOND',
    'streamErrorsPerSecond',
    'Frames that cause a stream error or arrive for a closed stream',
  ),
  settingsPerSecond: count('GRPC_MAX_SETTINGS_PER_SECOND', 'settingsPerSecond', 'SETTINGS frames'),
  pingsPerSecond: count(
    'GRPC_MAX_PINGS_PER_SECOND',
    'pingsPerSecond',
    'PING frames; each call allows 4 more, and so does every 2 KiB of a long response',
  ),
  windowUpdatesPerSecond: count(
    'GRPC_MAX_WINDOW_UPDATES_PER_SECOND',
    'windowUpdatesPerSecond',
    'WINDOW_UPDATE frames; each call allows 4 more, and so does every 2 KiB of a long response',
  ),
  emptyDataPerSecond: count(
    'GRPC_MAX_EMPTY_DATA_PER_SECOND',
    'emptyDataPerSecond',
    'Empty DATA frames; each call allows 4 more',
  ),
  smallDataPerSecond: count(
    'GRPC_MAX_SMALL_DATA_PER_SECOND',
    'smallDataPerSecond',
    'DATA frames of fewer than 64 bytes that do not end a request; each call allows 4 more',
  ),
  prioritiesPerSecond: count(
    'GRPC_MAX_PRIORITIES_PER_SECOND',
    'prioritiesPerSecond',
    'PRIORITY frames; each call allows 4 more',
  ),
  strayFramesPerSecond: count(
    'GRPC_MAX_STRAY_FRAMES_PER_SECOND',
    'strayFramesPerSecond',
    'Frames without effect, such as frames of unknown type; each call allows 4 more',
  ),
} satisfies Readonly<Record<keyof Limits, Variable<number>>>

export const grpcLimits = {
  title: 'Limits of the gRPC listener',
  variables,
} satisfies Chapter

const goaway = 'GOAWAY with ENHANCE_YOUR_CALM that names the limit; the connection is closed'
const closed = 'the connection is closed'
const largestClosed =
  'the connections with the most bytes are closed, with GOAWAY and ENHANCE_YOUR_CALM that names the limit'

/** What happens when each limit is exceeded; the manual lists it. */
export const beyondGrpcLimits: Readonly<Record<keyof Limits, string>> = {
  connections: 'new connections are closed',
  connectionsPerAddress: 'new connections from that address are closed',
  concurrentStreams: 'REFUSED_STREAM for the call',
  messageBytes: 'RESOURCE_EXHAUSTED for the call',
  bufferedRequestBytes: 'RESOURCE_EXHAUSTED for the call',
  totalBufferedRequestBytes: largestClosed,
  decompressedBytesPerSecond: goaway,
  discardedBytesPerSecond: goaway,
  headerListBytes: `RESOURCE_EXHAUSTED (HTTP status 431) for the call; at four times the limit, ${goaway}`,
  headerBlockBytes: goaway,
  continuationFrames: goaway,
  heldBackBytes: 'ENHANCE_YOUR_CALM for the call',
  totalUnsentBytes: largestClosed,
  heldBackTimeoutMs: goaway,
  unsentBytes: 'the server stops reading from the connection until the client reads',
  unsentTimeoutMs: closed,
  prefaceTimeoutMs: closed,
  frameTimeoutMs: goaway,
  requestTimeoutMs: 'CANCELLED for the call',
  keepaliveMs: 'a PING is sent',
  keepaliveTimeoutMs: closed,
  resetsPerSecond: goaway,
  lateResetsPerSecond: goaway,
  refusedStreamsPerSecond: goaway,
  largeHeadersPerSecond: goaway,
  streamErrorsPerSecond: goaway,
  settingsPerSecond: goaway,
  pingsPerSecond: goaway,
  windowUpdatesPerSecond: goaway,
  emptyDataPerSecond: goaway,
  smallDataPerSecond: goaway,
  prioritiesPerSecond: goaway,
  strayFramesPerSecond: goaway,
}

export function toGrpcLimits(settings: Settings<typeof variables>, check: Check): Limits {
  for (const [limit, variable] of Object.entries(variables)) {
    const isTime = limit.endsWith('Ms')
    const value = Object.entries(settings).find(([name]) => name === limit)?.[1]
    if (isTime && value === 0) check.fault(variable, 'must be longer than 0')
  }
  return { ...settings }
}
