import type { Account } from './account.ts'
import { retryWhenPortIsTaken } from './free-port.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'

/** What every opened server has. `stop` and `await using` do the same; both may be repeated. */
export interface OpenServer extends AsyncDisposable {
  /** Temporary; whatever a test puts here goes away with the server. */
  readonly folder: string
  stop(): Promise<void>
}

/** Where to connect to. */
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

/** Builds a server in a sandbox of its own, and takes the sandbox away when that fails. */
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
