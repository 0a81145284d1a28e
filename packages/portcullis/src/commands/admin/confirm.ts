import { createInterface } from 'node:readline'

/**
 * Asks on the terminal whether to continue. The question is written to standard error, so that the output can be
 * redirected.
 * @returns undefined if there is no terminal to ask on.
 */
export async function confirmOnTerminal(question: string): Promise<boolean | undefined> {
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  const reader = createInterface({ input: stdin, output: stderr })
  const answer = await new Promise<string | undefined>((resolve) => {
    // Ctrl-C and Ctrl-D close the reader without an answer.
    reader.once('close', () => resolve(undefined))
    reader.question(`${question} [y/N] `, resolve)
  })
  reader.close()
  if (answer === undefined) stderr.write('\n')
  return /^y(?:es)?$/i.test(answer?.trim() ?? '')
}
