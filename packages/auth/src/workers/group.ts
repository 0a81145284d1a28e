import type { Socket } from 'node:net'
import type { BucketPeers } from '../limits/buckets.ts'

/** The processes that share the work of one port, as one of them sees it. */
export interface Group {
  /** Our place in it, from 1. */
  readonly number: number
  /** How many we are. */
  readonly size: number
  /** Connections come from here: the port is another process's. */
  receive(adopt: (socket: Socket) => void): void
  /** One of those has ended. */
  tellClosed(): void
  readonly peers: BucketPeers
  /** Of all warnings about one topic, from whichever process, the first is logged. */
  warnOnce(topic: string, message: string): void
}
