import type { Address, BoundAddress } from '@portcullis/grpc-unary'
import type { Log } from '@portcullis/service-kit/log/log'
import { toAddress } from '@portcullis/service-kit/text/address'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'

/** Where to listen: on the unix socket if there is one, otherwise on the port. */
export interface ListenTarget {
  readonly host: string
  readonly port: number
  readonly socketPath?: string | undefined
}

/**
 * The protocols, with the variables that change where their listeners listen. The name is that of log lines.
 */
const protocols = {
  gRPC: { port: 'GRPC_HOST or GRPC_PORT', socketPath: 'GRPC_UDS' },
  HTTP: { port: 'HOST or PORT', socketPath: 'HOST or PORT' },
} as const
export type Protocol = keyof typeof protocols

/**
 * Listens, logs the address and returns it in the format of the log: `0.0.0.0:8080`. Rejects with an error that says
 * what to do.
 */
export async function listenFor(
  protocol: Protocol,
  { host, port, socketPath }: ListenTarget,
  bind: (address: Address) => Promise<BoundAddress>,
  log: Log,
): Promise<string> {
  const target = socketPath === undefined ? { host, port } : { path: socketPath }
  const bound = await bind(target).catch((error: unknown) => {
    const variables = protocols[protocol]['path' in target ? 'socketPath' : 'port']
    throw toListenError(error, protocol, variables)
  })
  const address = 'path' in bound ? bound.path : toAddress(host, bound.port)
  log.warning(`Listening for ${protocol} on '${address}'`)
  return address
}

/** Adds to a listen error what to do about it. */
export function toListenError(error: unknown, what: string, variables: string): unknown {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'the address is already in use',
    EACCES: 'permission denied',
    EADDRNOTAVAIL: 'this machine has no such address',
  }
  const reason = reasons[toCode(error)]
  if (reason === undefined) return error
  // Both servers use this port by default.
  const message = toMessage(error)
  const isClash = toCode(error) === 'EADDRINUSE' && /:8081\b/.test(message)
  const clash = isClash
    ? ' The auth server also uses 8081 by default; AUTH_API_PORT changes that.'
    : ''
  const text = `Cannot listen for ${what}: ${reason} (${message}). Change ${variables}.${clash}`
  return new Error(text, { cause: error })
}
