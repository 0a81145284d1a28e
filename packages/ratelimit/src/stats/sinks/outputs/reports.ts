import type { Log } from '@portcullis/service-kit/log'

export interface ReportSettings {
  readonly log: Log
  /** As the log calls it: `statsd at localhost:8125`. */
  readonly name: string
  /** Whether somebody asked for this sink: otherwise nobody needs to hear that it is missing. */
  readonly isWanted: boolean
}

/** A sink that was well for so long has earned another line when it is lost again. */
const calmMs = 60_000

/** Says once that a sink is lost and once that it is back, however often it comes and goes. */
export class Reports {
  readonly #settings: ReportSettings
  #isLost = false
  #hasSaidLost = false
  #quietUntil = 0

  constructor(settings: ReportSettings) {
    this.#settings = settings
  }

  lost(reason: string): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#hasSaidLost = performance.now() >= this.#quietUntil
    if (!this.#hasSaidLost) return
    const { log, name, isWanted } = this.#settings
    const message = `Statistics are not sent to ${name}: ${reason}`
    if (isWanted) log.warning(message)
    else log.info(message)
  }

  found(): void {
    if (!this.#isLost) return
    this.#isLost = false
    this.#quietUntil = performance.now() + calmMs
    if (this.#hasSaidLost) this.#settings.log.info(`Statistics are sent to ${this.#settings.name}`)
  }
}
