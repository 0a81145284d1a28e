import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { Socket } from 'node:net'
import {
  type BoundAddress,
  createGrpcServer,
  type GrpcServer,
  type TlsOptions,
} from '@portcullis/grpc-unary'
import { FailureLog } from '@portcullis/service-kit/log/failure-log'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { ChecksTlsConfig, ExtAuthzConfig } from '../config/api-keys.ts'
import { type CheckSettings, createCheckMethods } from './check-methods.ts'
import { createHealthService } from './health-methods.ts'

interface ChecksSettings extends Pick<CheckSettings, 'getServices'> {
  readonly config: ExtAuthzConfig
  readonly log: Log
  /** Called with the number of connections, in a worker. */
  readonly onConnections?: (count: number) => void
}

/** The gRPC listener for Envoy's filter `ext_authz`. */
export interface Checks extends AsyncDisposable {
  /** @throws {Error} if the address cannot be used. */
  listen(): Promise<BoundAddress>
  /** Serves a connection that the primary has accepted. */
  adopt(socket: Socket): void
  drain(): Promise<void>
}

/** How often the files of the certificate are checked for changes. */
const watchMs = 10_000

/** @throws {Error} if the files of the certificate cannot be used. */
export function openChecks({ config, getServices, log, onConnections }: ChecksSettings): Checks {
  // Clients could flood the log with refused connections.
  const failures = new FailureLog((line) => log.error(line), { mostLines: 10 })
  const report = (error: unknown) =>
    failures.report(() => `A check for ext_authz failed: ${toReason(error)}`)
  const { tls } = config
  const health = createHealthService({ getReadiness: () => getServices().readiness })
  const server = createGrpcServer({
    methods: { ...createCheckMethods({ getServices, report }), ...health.methods },
    report,
    ...(tls && { tls: readTls(tls) }),
    ...(onConnections && { onConnections }),
  })
  const unwatch = tls === undefined ? () => {} : watchTls(tls, server, log)
  return {
    listen: () => server.listen(config.address),
    adopt: (socket) => server.adopt(socket),
    drain() {
      health.drain()
      return server.drain()
    },
    async [Symbol.asyncDispose]() {
      unwatch()
      health.drain()
      await server.close()
    },
  }
}

function readTls({ certPath, keyPath, clientCaPath }: ChecksTlsConfig): TlsOptions {
  const credentials = { cert: readFileSync(certPath), key: readFileSync(keyPath) }
  if (clientCaPath === undefined) return credentials
  return { ...credentials, ca: readFileSync(clientCaPath), requestCert: true }
}

/** Uses new certificates for new connections. @returns a function that ends this. */
function watchTls(tls: ChecksTlsConfig, server: GrpcServer, log: Log): () => void {
  const renew = () => {
    try {
      server.renewTls(readTls(tls))
      log.info('The listener for ext_authz uses new TLS files')
    } catch (error) {
      // The files may be replaced one after the other; the next change is another attempt.
      log.warning(`The listener for ext_authz keeps its certificate: ${toReason(error)}`)
    }
  }
  const paths = Object.values(tls).filter((path) => path !== undefined)
  for (const path of paths) watchFile(path, { interval: watchMs, persistent: false }, renew)
  return () => {
    for (const path of paths) unwatchFile(path, renew)
  }
}
