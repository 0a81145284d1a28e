import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Sends bytes to a port of 127.0.0.1 and resolves to the response once `isComplete` returns true.
 */
export async function exchange(
  port: number,
  request: string | Uint8Array,
  isComplete: (answer: string) => boolean,
): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  try {
    await once(socket, 'connect')
    socket.write(request)
    let answer = ''
    for await (const chunk of socket) {
      answer += chunk.toString('latin1')
      if (isComplete(answer)) return answer
    }
    throw new Error(`the server closed the connection after: ${answer}`)
  } finally {
    socket.destroy()
  }
}

export async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
