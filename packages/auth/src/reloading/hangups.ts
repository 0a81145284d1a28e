import { isatty } from 'node:tty'

/** Distinguishes a request to reload from a closed terminal; both arrive as SIGHUP. */
export interface Hangups {
  /** Returns false if the terminal of the server was closed, so that the server should stop. */
  take(): boolean
  /** @param onReload is called for each request to reload, and for those that came before. */
  attach(onReload: () => void): void
}

const standardDescriptors = [0, 1, 2]

/** @param isTerminal whether a file descriptor is a terminal that is still open. */
export function createHangups(isTerminal: (fd: number) => boolean = isatty): Hangups {
  const terminals = standardDescriptors.filter(isTerminal)
  let isWanted = false
  let reload = (): void => {
    isWanted = true
  }
  return {
    take() {
      if (terminals.length > 0 && !terminals.some(isTerminal)) return false
      reload()
      return true
    },
    attach(onReload) {
      reload = onReload
      if (isWanted) onReload()
    },
  }
}
