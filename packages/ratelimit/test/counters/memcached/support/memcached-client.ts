import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { window } from './store.ts'

/** Sends one command to a local node and returns the reply without its last line break. */
export async function command(port: number, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  socket.setTimeout(120_000, () => socket.destroy())
  try {
    await once(socket, 'connect')
    socket.write(`${text}\r\n`)
    let answer = ''
    for await (const chunk of socket) {
      answer += chunk
      if (/(^|\n)(END|EN|HD.*|OK|STORED|DELETED|NOT_FOUND|RESET|\d+ *|.*ERROR.*)\r\n$/.test(answer))
        break
      if (/^VA .*\r\n.*\r\n$/.test(answer)) break
    }
    return answer.trimEnd()
  } finally {
    socket.destroy()
  }
}

/** The value of a counter in the window of the tests. */
export async function storedCount(port: number, key: string): Promise<number | undefined> {
  const answer = await command(port, `get ${key}${window}`)
  const value = answer.split('\r\n')[1]
  return value === undefined ? undefined : Number(value)
}

/** The remaining seconds of the counter; -1 if it never expires; undefined if it does not exist. */
export async function ttlOf(port: number, key: string): Promise<number | undefined> {
  const ttl = /^HD t(-?\d+)/.exec(await command(port, `mg ${key}${window} t`))?.[1]
  return ttl === undefined ? undefined : Number(ttl)
}

/**
 * Waits for the effect of writes, which are made after the calls are answered. The time limit is only for
 * hangs.
 */
export async function eventually<Value>(
  read: () => Promise<Value> | Value,
  isRight: (value: Value) => boolean,
): Promise<Value> {
  const givesUpAtMs = performance.now() + 120_000
  for (;;) {
    const value = await read()
    if (isRight(value) || performance.now() > givesUpAtMs) return value
    await sleep(10)
  }
}
