import type { Account } from './account.ts'
import { retryWhenPortIsTaken } from './free-port.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'

/**
 * The properties of every opened server. `stop` and `await using` are equivalent; both may be
 * repeated.
 */
export interface OpenServer extends AsyncDisposable {
  /** A temporary folder, which is removed with the server. */
  readonly folder: string
  stop(): Promise<void>
}

/** The address to connect to. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly url: string
}

export interface OpenServerOptions<Server> {
  readonly name: string
  readonly account?: Account | undefined
  readonly build: (sandbox: Sandbox) => Promise<Server>
}

/** Creates a server in its own sandbox, and removes the sandbox if that fails. */
export async function openServer<Server extends object>({
  name,
  account,
  build,
}: OpenServerOptions<Server>): Promise<Server & OpenServer> {
  return retryWhenPortIsTaken(async () => {
    const sandbox = await openSandbox(name, account)
    const stop = async () => sandbox[Symbol.asyncDispose]()
    try {
      const server: Server = await build(sandbox)
      return { ...server, folder: sandbox.folder, stop, [Symbol.asyncDispose]: stop }
    } catch (error) {
      await stop()
      throw error
    }
  })
}
