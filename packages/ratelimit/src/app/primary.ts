import type { Socket } from 'node:net'
import type { Log } from '@portcullis/service-kit/log'
import type { Statistics } from '../stats/registry.ts'

/** What connections of a worker are for. */
export type ListenerName = 'grpc' | 'http' | 'debug'

export interface ReportParts {
  readonly statistics: Statistics
  /** Whether every single duration is wanted, and not only how many and how long. */
  readonly sendsDurations: boolean
  readonly processGauges: () => Iterable<readonly [name: string, value: number]>
  /** The domains of the rules in force; another object when the rules are others. */
  readonly rules: () => { domainNames(): Iterable<string> } | undefined
}

/**
 * The process that started this one, as one of several workers. It has the ports, the sinks and the
 * signals: a worker gets connections from it and sends it what it counts.
 */
export interface Primary {
  /** For what all workers would say alike: one of them does, until each has its own to tell. */
  toSharedLog(log: Log, hasOwn?: () => boolean): Log
  /** Calls back when the service was told to go and is unhealthy from now on. */
  onTerminating(tell: () => void): void
  /** Statistics go to the primary, all of the rest when it is disposed. */
  openReports(parts: ReportParts): AsyncDisposable
  /** Connections that clients opened to this listener. */
  receive(listener: ListenerName, adopt: (socket: Socket) => void): void
  /** Tells how many connections the listener has: new ones go to those with few. */
  tellConnections(listener: ListenerName, count: number): void
  /** Tells how many gRPC connections an address has, where there is a limit for that. */
  tellAddress(address: string, count: number): void
}
