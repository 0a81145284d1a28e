import { UsageError } from './options.ts'

/** The server to compare with: a program to start, or a server that is already running. */
export type PeerOf<Running extends object> =
  | { readonly kind: 'none' }
  | { readonly kind: 'program'; readonly file: string }
  | (Running & { readonly kind: 'running' })

/** The options of a benchmark that can compare with a peer. */
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
 * @param alone options that need `--peer`, because they apply only to a running server.
 * @param parseRunning converts the address of the running server to what the benchmark needs.
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
    throw new UsageError('Use either --peer for a running server or --peer-program, not both.')
  }
  for (const name of alone) {
    if (options[name] !== undefined) throw new UsageError(`--${name} needs --peer.`)
  }
  return file === undefined ? { kind: 'none' } : { kind: 'program', file }
}
