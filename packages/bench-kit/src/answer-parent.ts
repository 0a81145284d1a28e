import { toMessage } from '@portcullis/service-kit/text/reason'

/** For a child process: replies to each message of the parent, and exits when the parent exits. */
export function answerParent<Message>(answer: (message: Message) => Promise<object>): void {
  const reply = async (message: Message) => {
    try {
      process.send?.(await answer(message))
    } catch (error) {
      process.send?.({ failure: toMessage(error) })
    }
  }
  process.on('disconnect', () => process.exit())
  process.on('message', (message: Message) => void reply(message))
}
