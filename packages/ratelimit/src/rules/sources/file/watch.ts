import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import { type Fingerprint, fingerprintIdentity } from './rule-place.ts'

export interface WatchOptions {
  /** The folder to watch. It need not exist yet, and may be replaced. */
  readonly directory: string
  /** The only entry to watch; all entries if undefined. */
  readonly entry: string | undefined
  /** Compared regularly, to find changes without events. */
  readonly fingerprint: Fingerprint
  readonly onChange: () => void
  /** How long to wait for further events, because one edit causes many events. */
  readonly debounceMs: number
  /** How often to check for changes while the folder cannot be watched. */
  readonly pollMs: number
  readonly log: Log
  /** Whether the process may exit while it watches. Default: false. */
  readonly isBackground?: boolean
  /** Replaces Node's `watch` in tests. */
  readonly watchFiles?: WatchFiles
}

export type WatchFiles = (
  directory: string,
  onEvent: (event: string, name: string | null) => void,
) => FSWatcher

/** If events never stop, `onChange` is called after this many debounce times. */
const debounceLimit = 10

/** While events work, checks are only a safety net, and this many times rarer. */
const calmFactor = 10

/**
 * Calls back on changes in a folder until it is disposed, and once at the start, as soon as no change
 * can be missed.
 */
export function openWatch(options: WatchOptions): Disposable {
  return new Watch(options)
}

class Watch implements Disposable {
  readonly #options: WatchOptions
  #watcher: FSWatcher | undefined
  /** The folder that is being watched; its path may lead to another one by now. */
  #watched: string | undefined
  #seen: string | undefined
  #failure: string | undefined
  #quiet: NodeJS.Timeout | undefined
  #firstEventMs = 0
  #poll: NodeJS.Timeout | undefined
  #isClosed = false
  #isChecking = false
  /** Initially true, because the caller has not read anything yet. */
  #hasEvent = true

  constructor(options: WatchOptions) {
    this.#options = options
    void this.#check()
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#watcher?.close()
    clearTimeout(this.#quiet)
    clearTimeout(this.#poll)
  }

  /** Watches the folder that the path leads to now. */
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
    const reason = toReason(error)
    if (reason === this.#failure) return
    this.#failure = reason
    log.warning(`Cannot watch ${directory}, so it is checked every ${pollMs} ms: ${reason}`)
  }

  #onEvent(name: string | null): void {
    const { directory, entry, debounceMs } = this.#options
    // There is an event for the folder itself when it is moved or deleted. The watcher is useless
    // then, and a new folder may have the same inode number.
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
    void this.#check()
  }

  /** An event always counts as a change; without one, the fingerprints are compared. */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#isClosed) return
    this.#isChecking = true
    clearTimeout(this.#poll)
    const hadEvent = this.#hasEvent
    this.#hasEvent = false
    await this.#arm()
    const found = await this.#options.fingerprint()
    const isChanged = hadEvent || found !== this.#seen
    this.#seen = found
    this.#isChecking = false
    if (this.#isClosed) return
    if (isChanged) this.#options.onChange()
    this.#next()
  }

  #next(): void {
    if (this.#isClosed) return
    if (this.#hasEvent) {
      void this.#check()
      return
    }
    const isCalm = this.#watcher !== undefined && this.#seen !== undefined
    const { pollMs } = this.#options
    this.#poll = setTimeout(() => void this.#check(), isCalm ? pollMs * calmFactor : pollMs)
    if (this.#options.isBackground) this.#poll.unref()
  }
}

/** Work that can be requested at any time and never runs concurrently. */
interface OneAtATime {
  /** Starts a run, or schedules one more run after the current one, however often it is called. */
  request(): void
  /** Prevents further runs; resolves when the current run is complete. */
  close(): Promise<void>
}

/** @param run - must not reject */
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
