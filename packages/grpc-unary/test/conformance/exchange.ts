import { flag, frameType } from '../../src/http2/frames.ts'
import { type Frame, frame, RawClient } from '../support/raw-client.ts'
import { type Case, connectionPreface, type ServerOutput } from './case.ts'

/** The answer to this PING comes after everything else that the server sends immediately. */
const lastPing = Buffer.from('the last')

/** Sends the frames of the case in one write, and collects the server's frames. */
export async function exchange(port: number, { begins, sends }: Case): Promise<ServerOutput> {
  using client = await RawClient.connect(port)
  client.send(...(begins ?? connectionPreface), ...sends, frame(frameType.PING, 0, 0, lastPing))
  const frames: Frame[] = []
  try {
    for (;;) {
      const next = await client.next(() => true)
      if (isLastPong(next)) return { frames, isAlive: true }
      frames.push(next)
    }
  } catch {
    return { frames, isAlive: false }
  }
}

function isLastPong({ type, flags, payload }: Frame): boolean {
  return type === frameType.PING && flags === flag.ACK && payload.equals(lastPing)
}
