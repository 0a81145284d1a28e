/** For a child process: replies to each message of the parent, and exits when the parent exits. */
export function answerParent<Question>(answer: (question: Question) => Promise<object>): void {
  const reply = async (question: Question) => {
    try {
      process.send?.(await answer(question))
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? error.message : String(error) })
    }
  }
  process.on('disconnect', () => process.exit())
  process.on('message', (question: Question) => void reply(question))
}
