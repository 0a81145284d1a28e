import type { Drain } from './drain.ts'
import type { Flood } from './flood-meter.ts'
import type { ErrorCode } from './frames.ts'
import type { Hub } from './hub.ts'
import type { SendFlow } from './send-flow.ts'
import type { Stream, StreamConnection } from './stream.ts'
import type { StreamTable } from './stream-table.ts'

/** What those who handle frames see of the connection. */
export interface FrameConnection extends StreamConnection {
  readonly hub: Hub
  readonly sendFlow: SendFlow
  readonly streams: StreamTable
  readonly drain: Drain
  /** When the header block that is not whole began; Infinity when there is none. */
  blockSinceMs: number
  /** The newest stream was not answered at once: it waits with the others. */
  parkNewest(): void
  /** RST_STREAM of the peer. */
  cancel(stream: Stream): void
  /** A stream error (RFC 9113 5.4.2), whether or not the stream still exists. */
  streamError(id: number, code: ErrorCode): void
  /** Counts a frame that could be part of a flood; true when that ends the connection. */
  overLimit(kind: Flood): boolean
}
