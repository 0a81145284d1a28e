/** The part of a terminal stream that the progress line needs. */
export interface ProgressStream {
  readonly columns?: number | undefined
  write(text: string): unknown
}

export interface Progress {
  readonly advance: (label: string) => void
  /** Shows why nothing happens at the moment. */
  readonly wait: (reason: string) => void
  /** Removes the progress line. */
  readonly end: () => void
}

const BAR_WIDTH = 24
const CLEAR_LINE = '\r\u001b[2K'

/** One line that shows the progress of the audits, rewritten in place. */
export function createProgress(stream: ProgressStream, total: number): Progress {
  let done = 0
  let hasLine = false
  const show = (label: string) => {
    hasLine = true
    const filled = Math.round((done / total) * BAR_WIDTH)
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
    const line = `${bar} ${done}/${total} ${label}`
    // A line that wraps could not be cleared.
    stream.write(`${CLEAR_LINE}${line.slice(0, (stream.columns ?? 80) - 1)}`)
  }
  return {
    advance: (label) => {
      done++
      show(label)
    },
    wait: show,
    end: () => {
      if (hasLine) stream.write(CLEAR_LINE)
    },
  }
}

/** For streams that are not a terminal. */
export const silentProgress: Progress = { advance: () => {}, wait: () => {}, end: () => {} }
