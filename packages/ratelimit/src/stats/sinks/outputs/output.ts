/** Takes lines and never makes anybody wait: who writes looks whether there is room first. */
export interface Output {
  /** Whether what is written has a chance to arrive. */
  readonly isOpen: boolean
  /** Resolves when the first attempt to open has gone one way or the other. */
  readonly tried: Promise<void>
  /** Set by who has something that waits for a connection: called with each new one. */
  onOpen?: (() => void) | undefined
  /** Whether to wait for room before more is written. */
  readonly isFull: boolean
  /** Resolves when there is room, and also when the output is lost. */
  room(): Promise<void>
  /** A whole line, with its end. */
  write(line: string): void
  /** Sends what waits for company. */
  send(): void
  /** Resolves when all is sent; gives up when told to. */
  close(giveUp: AbortSignal): Promise<void>
}

/** Before more is written, this much should have left. */
export const enoughBytes = 128 << 10

/** What may wait for somebody who does not read (reference 7.2). */
export const mostBytes = 4 << 20
