/** The dynamic table of a client as RFC 9113 6.5.2 has it, and the most that the server uses. */
export const CLIENT_TABLE_SIZE = 4096

/** Something that must never happen did; with what it takes to make it happen again. */
export class FuzzFailure extends Error {
  override readonly name = 'FuzzFailure'
}

export function fail(what: string): never {
  throw new FuzzFailure(what)
}

/** Runs one input, and adds to what goes wrong how to repeat it. */
export function withInput(where: string, input: () => Uint8Array, run: () => void): void {
  try {
    run()
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    const bytes = Buffer.from(input()).toString('hex')
    throw new FuzzFailure(`${where}: ${what}\ninput: ${bytes}`, { cause: error })
  }
}
