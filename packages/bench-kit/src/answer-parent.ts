/** In a child process: answers the parent's questions, one at a time, and exits with it. */
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
