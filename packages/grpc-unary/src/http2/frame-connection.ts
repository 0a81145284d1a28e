import type { Drain } from './drain.ts'
import type { Flood } from './flood-meter.ts'
import type { SendFlow } from './flow-control.ts'
import type { ErrorCode } from './frames.ts'
import type { Hub } from './hub.ts'
import type { Stream, StreamConnection } from './stream.ts'
import type { StreamTable } from './stream-table.ts'

/** The part of the connection that frame handlers use. */
export interface FrameConnection extends StreamConnection {
  readonly hub: Hub
  readonly sendFlow: SendFlow
  readonly streams: StreamTable
  readonly drain: Drain
  /** When the current incomplete header block began; Infinity if there is none. */
  blockSinceMs: number
  /** Moves the newest stream, which was not answered immediately, to the waiting ones. */
  parkNewest(): void
  /** Called on RST_STREAM from the peer. */
  cancel(stream: Stream): void
  /** A stream error (RFC 9113 5.4.2), whether or not the stream still exists. */
  streamError(id: number, code: ErrorCode): void
  /** Counts a frame that could be part of a flood; returns true if the connection was closed. */
  overLimit(kind: Flood): boolean
}
