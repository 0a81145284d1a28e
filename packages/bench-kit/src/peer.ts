import { UsageError } from './options.ts'

/** Where the server to compare with comes from: a program to be started, or one that runs already. */
export type PeerOf<Running extends object> =
  | { readonly kind: 'none' }
  | { readonly kind: 'program'; readonly file: string }
  | (Running & { readonly kind: 'running' })

/** For the table of a benchmark that can be compared. */
export const peerOptions = {
  peer: { type: 'string' },
  'peer-pid': { type: 'string' },
  'peer-program': { type: 'string' },
} as const

export interface PeerOptions {
  readonly peer?: string | undefined
  readonly 'peer-program'?: string | undefined
}

/**
 * @param alone options that say something about a running peer and mean nothing without one.
 * @param parseRunning makes of its address, and of other options, what the benchmark has to know.
 * @throws {UsageError}
 */
export function parsePeer<Options extends PeerOptions, Running extends object>(
  options: Options,
  alone: readonly (keyof Options & string)[],
  parseRunning: (address: string) => Running,
): PeerOf<Running> {
  const { peer: address, 'peer-program': file } = options
  if (address !== undefined) {
    if (file === undefined) return { kind: 'running', ...parseRunning(address) }
    throw new UsageError('Give --peer for a server that runs, or --peer-program, not both')
  }
  for (const name of alone) {
    if (options[name] !== undefined) throw new UsageError(`--${name} needs --peer`)
  }
  return file === undefined ? { kind: 'none' } : { kind: 'program', file }
}
