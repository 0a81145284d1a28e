import { createServer, type Socket } from 'node:net'
import { type Address, type BoundAddress, bind } from '@portcullis/grpc-unary'

export interface Door {
  readonly bound: BoundAddress
  /** Accepts no more. Connections that were passed on are others' by now. */
  close(): void
}

/**
 * Accepts connections and reads nothing of them, so that whoever gets them has every byte.
 * @param report hears of what keeps connections from being accepted later on.
 */
export async function openDoor(
  address: Address,
  pass: (socket: Socket) => void,
  report: (error: Error) => void,
): Promise<Door> {
  const server = createServer({ pauseOnConnect: true }, pass)
  const bound = await bind(server, address)
  server.on('error', report)
  return {
    bound,
    close() {
      if (server.listening) server.close()
    },
  }
}
