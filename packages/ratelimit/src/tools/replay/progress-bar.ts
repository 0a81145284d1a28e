import type { Progress } from './replay.ts'

export interface ProgressTarget {
  /** Undefined if the width is unknown. */
  readonly columns: number | undefined
  write(text: string): unknown
}

export interface ProgressBar {
  show(progress: Progress): void
  /** Removes the progress bar from the terminal. */
  clear(): void
}

const refreshMs = 100
const barWidth = 24
const clearLine = '\r\x1b[2K'

/** One line of a terminal that is rewritten in place. */
export function createProgressBar(target: ProgressTarget, now: () => number): ProgressBar {
  const startMs = now()
  let shownMs = startMs
  let isShown = false
  return {
    show(progress) {
      const nowMs = now()
      if (nowMs - shownMs < refreshMs) return
      shownMs = nowMs
      isShown = true
      const line = toProgressLine(progress, (nowMs - startMs) / 1000)
      // The width is 0 for a terminal without a known size.
      target.write(`${clearLine}${line.slice(0, (target.columns || 80) - 1)}`)
    },
    clear() {
      if (isShown) target.write(clearLine)
    },
  }
}

export function toProgressLine(progress: Progress, seconds: number): string {
  const { lines, readBytes, totalBytes } = progress
  const perSecond = Math.round(lines / Math.max(seconds, 0.001)).toLocaleString('en-US')
  const speed = `${lines.toLocaleString('en-US')} lines, ${perSecond}/s`
  if (totalBytes === undefined || totalBytes === 0) return `${toSize(readBytes)}  ${speed}`
  // A log that is still being written may have grown.
  const share = Math.min(1, readBytes / totalBytes)
  const filled = Math.round(share * barWidth)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`
  const left = share === 0 ? '' : `, ${toDuration((seconds / share) * (1 - share))} left`
  const percent = `${Math.floor(share * 100)}`.padStart(3)
  return `${bar} ${percent} % of ${toSize(totalBytes)}  ${speed}${left}`
}

function toSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const amount = bytes / 2 ** (10 * power)
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power]}`
}

function toDuration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`
}
