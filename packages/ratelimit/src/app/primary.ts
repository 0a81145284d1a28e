import type { Socket } from 'node:net'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Statistics } from '../stats/registry.ts'
import type { KeyAccess } from '../transports/debug/key-access.ts'

/** The listeners that a worker receives connections for. */
export type ListenerName = 'grpc' | 'http' | 'debug'

export interface ReportParts {
  readonly statistics: Statistics
  /** Whether each duration is sent, instead of only their count and sum. */
  readonly sendsDurations: boolean
  readonly processGauges: () => Iterable<readonly [name: string, value: number]>
  /** The domains of the rules in force; a new object after the rules change. */
  readonly rules: () => { domainNames(): Iterable<string> } | undefined
}

/**
 * The process that started this worker. It owns the ports and the sinks and handles signals: a worker
 * receives connections from it and sends it statistics.
 */
export interface Primary {
  /**
   * A log for messages that are the same in all workers: only the lead worker writes them, until `hasOwn`
   * returns true.
   */
  toSharedLog(log: Log, hasOwn?: () => boolean): Log
  /** Calls back when the service is being stopped and reports itself as unhealthy. */
  onTerminating(callback: () => void): void
  /** Sends statistics to the primary, and the remaining ones when it is disposed. */
  openReports(parts: ReportParts): AsyncDisposable
  /** Serves the primary, which has the pages about keys, but neither rules nor counters. */
  serveKeys(access: KeyAccess): void
  /** Receives connections that clients opened to this listener. */
  receive(listener: ListenerName, adopt: (socket: Socket) => void): void
  /** Reports the number of connections: new ones go to workers with few. */
  reportConnections(listener: ListenerName, count: number): void
  /** Reports the number of gRPC connections from an address, if that is limited. */
  reportAddress(address: string, count: number): void
}
