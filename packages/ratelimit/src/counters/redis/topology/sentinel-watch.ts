import { setTimeout as sleep } from 'node:timers/promises'
import type { TcpEndpoint } from '../../network/socket.ts'
import { CommandBuffer } from '../connection/command-buffer.ts'
import { Link, type LinkSettings } from '../connection/link.ts'
import type { Reply } from '../connection/resp-reader.ts'

export interface SentinelWatch {
  readonly links: readonly LinkSettings[]
  readonly masterName: string
  readonly onSwitch: (master: TcpEndpoint) => void
  /** Called after a new subscription: messages in between are lost, so the master must be queried. */
  readonly onAvailable: () => Promise<void>
  readonly signal: AbortSignal
}

const pauseMs = 1_000
const pingMs = 5_000

/** Subscribes to `+switch-master` on one sentinel after the other, until the signal is aborted. */
export async function watchSentinel(watch: SentinelWatch): Promise<void> {
  for (let at = 0; !watch.signal.aborted; at = (at + 1) % watch.links.length) {
    const settings = watch.links[at]
    if (settings) await listen(settings, watch)
    const ref = settings?.isBackground !== true
    await sleep(pauseMs, undefined, { signal: watch.signal, ref }).catch(() => undefined)
  }
}

/** Resolves when the connection to the sentinel ends. */
function listen(settings: LinkSettings, watch: SentinelWatch): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let hasAnswered = true
  const link = new Link(settings, {
    onOpen() {
      send(['SUBSCRIBE', '+switch-master'])
      // A failed query is repeated with the next message or attempt.
      watch.onAvailable().catch(() => undefined)
    },
    onInteger() {},
    onReply(reply) {
      const next = parseSwitch(reply, watch.masterName)
      if (next) watch.onSwitch(next)
    },
    onRead() {
      hasAnswered = true
    },
    onClose: () => resolve(),
  })
  const send = (words: readonly string[]) => {
    const commands = new CommandBuffer()
    commands.command(words)
    link.send(commands)
  }
  // Without a ping, a lost sentinel looks the same as one without news.
  const pinger = setInterval(() => {
    if (!hasAnswered) link.close('did not answer')
    else send(['PING'])
    hasAnswered = false
  }, pingMs)
  if (settings.isBackground) pinger.unref()
  const stop = () => link.close('no longer needed')
  watch.signal.addEventListener('abort', stop, { once: true })
  return promise.finally(() => {
    clearInterval(pinger)
    watch.signal.removeEventListener('abort', stop)
  })
}

/** `["message", "+switch-master", "<name> <old host> <old port> <new host> <new port>"]` */
function parseSwitch(reply: Reply, masterName: string): TcpEndpoint | undefined {
  if (!Array.isArray(reply) || reply[0] !== 'message') return undefined
  const [name, , , host, port] = String(reply[2]).split(' ')
  if (name !== masterName || host === undefined) return undefined
  return { host, port: Number(port) }
}
