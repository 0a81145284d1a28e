/** How long something took, over and over. */
export class Timer {
  count = 0
  sumMs = 0
  maxMs = 0
  /** Told every duration; a sink sets it when it wants them one by one. */
  observer: ((durationMs: number) => void) | undefined

  observe(durationMs: number): void {
    this.count += 1
    this.sumMs += durationMs
    if (durationMs > this.maxMs) this.maxMs = durationMs
    this.observer?.(durationMs)
  }
}
