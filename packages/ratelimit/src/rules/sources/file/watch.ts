import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import type { Log } from '@portcullis/service-kit/log'
import { type Fingerprint, fingerprintIdentity } from './rule-place.ts'

export interface WatchOptions {
  /** Whose entries are watched. It need not exist yet, and may be replaced or come back. */
  readonly directory: string
  /** The only entry that matters; undefined: all do. */
  readonly entry: string | undefined
  /** Of all that matters: compared now and then, for changes that no event tells of. */
  readonly fingerprint: Fingerprint
  readonly onChange: () => void
  /** How long it must be quiet after an event: one change by a person is many for the system. */
  readonly debounceMs: number
  /** How often to look while there is nothing to watch, or no way to. */
  readonly pollMs: number
  readonly log: Log
  /** Whether the process may end while it watches. Default: false. */
  readonly isBackground?: boolean
  /** Node's own, save in tests. */
  readonly watchFiles?: WatchFiles
}

export type WatchFiles = (
  directory: string,
  onEvent: (event: string, name: string | null) => void,
) => FSWatcher

/** Where events never stop, something is still loaded after so many times the quiet time. */
const debounceLimit = 10

/** While events are expected, looking is a safety net: so many times rarer. */
const calmFactor = 10

/**
 * Tells of changes in a directory until it is disposed, and once at the start, when none can be
 * missed any more.
 */
export function openWatch(options: WatchOptions): Disposable {
  return new Watch(options)
}

class Watch implements Disposable {
  readonly #options: WatchOptions
  #watcher: FSWatcher | undefined
  /** The directory that the watcher is on; its path may lead to another one by now. */
  #watched: string | undefined
  #seen: string | undefined
  #failure: string | undefined
  #quiet: NodeJS.Timeout | undefined
  #firstEventMs = 0
  #poll: NodeJS.Timeout | undefined
  #isClosed = false
  #isLooking = false
  /** From the start: whoever asks for changes has not seen anything yet. */
  #hasEvent = true

  constructor(options: WatchOptions) {
    this.#options = options
    void this.#look()
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#watcher?.close()
    clearTimeout(this.#quiet)
    clearTimeout(this.#poll)
  }

  /** Puts the watcher on the directory that the path leads to now. */
  async #arm(): Promise<void> {
    const { directory, watchFiles = watch } = this.#options
    const found = await fingerprintIdentity(directory)
    if (found === this.#watched || this.#isClosed) return
    this.#disarm()
    if (found === undefined) return
    try {
      this.#watcher = watchFiles(directory, (_, name) => this.#onEvent(name))
      if (this.#options.isBackground) this.#watcher.unref()
      this.#watcher.on('error', (error) => this.#onWatchError(error))
      this.#watched = found
    } catch (error) {
      this.#onWatchError(error)
    }
  }

  #disarm(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#watched = undefined
  }

  #onWatchError(error: unknown): void {
    this.#disarm()
    const { directory, pollMs, log } = this.#options
    const reason = error instanceof Error ? error.message : String(error)
    if (reason === this.#failure) return
    this.#failure = reason
    log.warning(`Cannot watch ${directory}, so it is looked at every ${pollMs} ms: ${reason}`)
  }

  #onEvent(name: string | null): void {
    const { directory, entry, debounceMs } = this.#options
    // The directory tells of itself when it is moved or deleted. The watcher is of no use then, and
    // a new directory may well have the number of the old one.
    const isOfItself = name === basename(directory)
    if (isOfItself) this.#watched = undefined
    const matters = entry === undefined || name === null || name === entry
    if (!matters && !isOfItself) return
    const nowMs = performance.now()
    if (this.#quiet === undefined) this.#firstEventMs = nowMs
    clearTimeout(this.#quiet)
    const leftMs = this.#firstEventMs + debounceMs * debounceLimit - nowMs
    this.#quiet = setTimeout(() => this.#onQuiet(), Math.max(0, Math.min(debounceMs, leftMs)))
  }

  #onQuiet(): void {
    this.#quiet = undefined
    this.#hasEvent = true
    void this.#look()
  }

  /** An event is always a change; without one the fingerprints decide. */
  async #look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return
    this.#isLooking = true
    clearTimeout(this.#poll)
    const isToldOf = this.#hasEvent
    this.#hasEvent = false
    await this.#arm()
    const found = await this.#options.fingerprint()
    const isChanged = isToldOf || found !== this.#seen
    this.#seen = found
    this.#isLooking = false
    if (this.#isClosed) return
    if (isChanged) this.#options.onChange()
    this.#next()
  }

  #next(): void {
    if (this.#isClosed) return
    if (this.#hasEvent) {
      void this.#look()
      return
    }
    const isCalm = this.#watcher !== undefined && this.#seen !== undefined
    const { pollMs } = this.#options
    this.#poll = setTimeout(() => void this.#look(), isCalm ? pollMs * calmFactor : pollMs)
    if (this.#options.isBackground) this.#poll.unref()
  }
}

/** Work that is asked for at any time and never done twice at once. */
interface OneAtATime {
  /** Starts it, or has it done once more after the present run, however often it is asked for. */
  request(): void
  /** No further run; resolves when the present one is over. */
  close(): Promise<void>
}

/** @param run must not reject. */
export function createOneAtATime(run: () => Promise<void>): OneAtATime {
  let isWanted = false
  let isClosed = false
  let running: Promise<void> | undefined

  async function runWhileWanted(): Promise<void> {
    while (isWanted && !isClosed) {
      isWanted = false
      await run()
    }
    running = undefined
  }

  return {
    request() {
      isWanted = true
      running ??= runWhileWanted()
    },
    async close() {
      isClosed = true
      await running
    },
  }
}
