import type { MessageChannel } from '../statements/outbox.ts'
import type { Deliver } from './outbox-sender.ts'

type Channels = Readonly<Partial<Record<MessageChannel, Deliver>>>

/** Hears of every attempt to send a message, by the kind of message. */
export type OnAttempt = (channel: MessageChannel, kind: string, isFailed: boolean) => void

export function watchChannels(channels: Channels, onAttempt: OnAttempt): Channels {
  const watch =
    (channel: MessageChannel, deliver: Deliver): Deliver =>
    async (message, signal) => {
      try {
        await deliver(message, signal)
        onAttempt(channel, message.kind, false)
      } catch (error) {
        onAttempt(channel, message.kind, true)
        throw error
      }
    }
  const entries = Object.entries(channels) as [MessageChannel, Deliver][]
  return Object.fromEntries(entries.map(([name, deliver]) => [name, watch(name, deliver)]))
}
