import { StoreError } from '../counter-store.ts'
import { CommandBuffer } from './command-buffer.ts'
import { Link, type LinkSettings } from './link.ts'
import { type Reply, ReplyError } from './resp-reader.ts'

/** A sentinel or node of many that says nothing delays the search by this at most. */
export const maxAskMs = 2_000

/**
 * Asks one question over a connection of its own. Discovery is rare, so it needs no connection that
 * has to be watched and kept.
 * @throws {StoreError} when there is no answer in time or it is an error.
 */
export function askRedis(
  settings: LinkSettings,
  words: readonly string[],
  signal: AbortSignal,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const link = new Link(settings, {
    onOpen() {
      const commands = new CommandBuffer()
      commands.command(words)
      link.send(commands)
    },
    onInteger: (value) => resolve(value),
    onReply(reply) {
      if (reply instanceof ReplyError) reject(new StoreError(`${words[0]}: ${reply.message}`))
      else resolve(reply)
    },
    onRead() {},
    onClose: reject,
  })
  const abort = () => link.close('nobody waits for the answer any more')
  const timer = setTimeout(() => link.close('did not answer'), settings.connectTimeoutMs)
  if (settings.isBackground) timer.unref()
  signal.addEventListener('abort', abort, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    link.close('done')
  })
}
