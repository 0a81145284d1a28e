/** The part of a terminal stream that the progress line needs. */
export interface ProgressStream {
  readonly columns?: number | undefined
  write(text: string): unknown
}

export interface Progress {
  readonly advance: (label: string) => void
  /** Removes the line. */
  readonly end: () => void
}

const BAR_WIDTH = 24
const CLEAR_LINE = '\r\u001b[2K'

/** One line that says how far the audits are, rewritten in place. */
export function createProgress(stream: ProgressStream, total: number): Progress {
  let done = 0
  return {
    advance: (label) => {
      done++
      const filled = Math.round((done / total) * BAR_WIDTH)
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
      const line = `${bar} ${done}/${total} ${label}`
      // A line that wraps could not be cleared again.
      stream.write(`${CLEAR_LINE}${line.slice(0, (stream.columns ?? 80) - 1)}`)
    },
    end: () => {
      if (done > 0) stream.write(CLEAR_LINE)
    },
  }
}

/** For streams that are no terminal. */
export const silentProgress: Progress = { advance: () => {}, end: () => {} }
