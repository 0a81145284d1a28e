import type { TestContext } from 'node:test'
import { type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { type Collector, openGrpcCollector, openHttpCollector } from './collector.ts'

export const protocols = {
  'http/protobuf': openHttpCollector,
  grpc: openGrpcCollector,
} as const

export interface CollectedServer extends FlowServer {
  readonly collector: Collector
}

/**
 * Opens a server that sends telemetry to a collector. Returns undefined if PostgreSQL is missing.
 */
export async function openCollectedServer(
  t: TestContext,
  protocol: keyof typeof protocols,
  env: Readonly<Record<string, string>>,
): Promise<CollectedServer | undefined> {
  const collector = await protocols[protocol]()
  const server = await openFlowServer(t, {
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '50',
    ...env,
  })
  // Close the collector after the server, which sends its last telemetry when it stops.
  t.after(() => collector.close())
  return server && { ...server, clock: server.clock, collector }
}
