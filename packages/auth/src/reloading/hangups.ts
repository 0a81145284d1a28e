import { isatty } from 'node:tty'

/** Distinguishes a request to reload from a closed terminal; both arrive as SIGHUP. */
export interface Hangups {
  /** Handles a SIGHUP. Returns false if the terminal was closed, so that the server should stop. */
  take(): boolean
  /**
   * @param onReload is called for each request to reload, and at once if there was one before.
   */
  attach(onReload: () => void): void
}

const standardDescriptors = [0, 1, 2]

/** @param isTerminal whether a file descriptor is a terminal that is still open. */
export function createHangups(isTerminal: (fd: number) => boolean = isatty): Hangups {
  const terminals = standardDescriptors.filter(isTerminal)
  let isRequested = false
  let reload = (): void => {
    isRequested = true
  }
  return {
    take() {
      if (terminals.length > 0 && !terminals.some(isTerminal)) return false
      reload()
      return true
    },
    attach(onReload) {
      reload = onReload
      if (isRequested) onReload()
    },
  }
}
