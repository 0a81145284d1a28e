import { toReason } from '../src/reason.ts'

/**
 * The default size of a client's dynamic table (RFC 9113 6.5.2), which is also the maximum that the
 * server uses.
 */
export const CLIENT_TABLE_SIZE = 4096

/** A violated invariant, with the input that reproduces it. */
export class FuzzFailure extends Error {
  override readonly name = 'FuzzFailure'
}

export function fail(what: string): never {
  throw new FuzzFailure(what)
}

/** Runs one input, and adds it to the error of a failure so that it can be reproduced. */
export function withInput(where: string, input: () => Uint8Array, run: () => void): void {
  try {
    run()
  } catch (error) {
    const bytes = Buffer.from(input()).toString('hex')
    throw new FuzzFailure(`${where}: ${toReason(error)}\ninput: ${bytes}`, { cause: error })
  }
}
