import { StoreError } from '../../counter-store.ts'
import { CommandBuffer } from './command-buffer.ts'
import { Link, type LinkSettings } from './link.ts'
import { type Reply, ReplyError } from './resp-reader.ts'

/** A sentinel or node that does not answer delays the search for a server at most this long. */
export const discoveryTimeoutMs = 2_000

/**
 * Sends one command over a separate connection. Discovery is rare, so a permanent connection is not worth
 * its maintenance.
 * @throws StoreError when there is no reply in time or the reply is an error
 */
export function runCommand(
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
  const abort = () => link.close('the reply is no longer needed')
  const timer = setTimeout(() => link.close('did not answer'), settings.connectTimeoutMs)
  if (settings.isBackground) timer.unref()
  signal.addEventListener('abort', abort, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    link.close('done')
  })
}
