import { once } from 'node:events'
import { lstat, unlink } from 'node:fs/promises'
import { type AddressInfo, connect, type Server } from 'node:net'

/**
 * Where to listen: a TCP port (0 for any free port; `reusePort` lets several processes share it),
 * or a unix socket.
 */
export type Address =
  | { readonly host?: string; readonly port: number; readonly reusePort?: boolean }
  | { readonly path: string }

/** The address on which a server listens. */
export type BoundAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string }

/** Resolves when the server accepts connections. */
export async function bind(server: Server, address: Address): Promise<BoundAddress> {
  try {
    await listen(server, address)
  } catch (error) {
    // Listening fails if the socket file exists. If a dead process left it behind, it can be
    // replaced.
    if (!('path' in address) || !isInUse(error) || !(await isAbandoned(address.path))) throw error
    await unlink(address.path)
    await listen(server, address)
  }
  return toBoundAddress(server.address(), address)
}

async function listen(server: Server, address: Address): Promise<void> {
  server.listen(address)
  await once(server, 'listening')
}

function toBoundAddress(bound: AddressInfo | string | null, requested: Address): BoundAddress {
  if ('path' in requested) return { path: requested.path }
  if (bound === null || typeof bound === 'string') return { host: '', port: requested.port }
  return { host: bound.address, port: bound.port }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

/** True for a socket file on which no process listens. */
async function isAbandoned(path: string): Promise<boolean> {
  const stats = await lstat(path)
  if (!stats.isSocket()) return false
  const probe = connect(path)
  try {
    await once(probe, 'connect')
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
  } finally {
    probe.destroy()
  }
}
