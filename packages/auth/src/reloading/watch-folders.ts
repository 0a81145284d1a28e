import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'

/** A folder with configuration files. It need not exist yet, and may be replaced. */
export interface WatchedFolder {
  readonly path: string
  /** Whether an entry of the folder is a configuration file. */
  isRelevant(name: string): boolean
}

export interface WatchSettings {
  readonly folders: readonly WatchedFolder[]
  /** Called after a change, and when a change may have been missed. */
  readonly onChange: () => void
  /** How long to wait for further events, because one edit causes several events. */
  readonly gracePeriodMs: number
  /** Called once if a folder cannot be watched. */
  readonly onUnsupported: (reason: string) => void
  /** Replaces Node's `watch` in tests. */
  readonly watchFolder?: typeof watch
}

/** If events never stop, the files are read after this many grace periods. */
const maxGracePeriods = 10

/** How long to wait before a missing folder is looked up again. */
const missingRetryMs = 1_000

/**
 * Watches folders instead of files: editors and configuration managers replace files, and a watched
 * file that was replaced causes no more events.
 */
export function watchFolders(settings: WatchSettings): Disposable {
  const { folders, onChange, gracePeriodMs, onUnsupported, watchFolder = watch } = settings
  const watchers = new Map<WatchedFolder, FSWatcher>()
  let graceTimer: NodeJS.Timeout | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let firstEventMs = 0
  let isClosed = false

  const onEvent = (): void => {
    const nowMs = performance.now()
    if (graceTimer === undefined) firstEventMs = nowMs
    clearTimeout(graceTimer)
    const leftMs = firstEventMs + gracePeriodMs * maxGracePeriods - nowMs
    graceTimer = setTimeout(
      () => {
        graceTimer = undefined
        startWatching()
        onChange()
      },
      Math.max(0, Math.min(gracePeriodMs, leftMs)),
    )
  }
  const stopWatching = (folder: WatchedFolder): void => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }
  const onFailure = (folder: WatchedFolder, error: unknown): void => {
    stopWatching(folder)
    if (toCode(error) !== 'ENOENT') {
      isClosed = true
      close()
      onUnsupported(toMessage(error))
      return
    }
    retryTimer ??= setTimeout(() => {
      retryTimer = undefined
      startWatching()
    }, missingRetryMs)
    retryTimer.unref()
  }
  const startWatching = (): void => {
    for (const folder of folders) {
      if (isClosed || watchers.has(folder)) continue
      try {
        const watcher = watchFolder(folder.path, { persistent: false }, (_event, name) => {
          // There is an event for the folder itself when it is moved or deleted; its watch is
          // useless then.
          if (name === basename(folder.path)) stopWatching(folder)
          else if (name !== null && !isRelevantEvent(folder, name)) return
          onEvent()
        })
        watcher.on('error', (error) => onFailure(folder, error))
        watchers.set(folder, watcher)
        // The files may have changed before the watch started.
        onEvent()
      } catch (error) {
        onFailure(folder, error)
      }
    }
  }
  const close = (): void => {
    for (const folder of [...watchers.keys()]) stopWatching(folder)
    clearTimeout(graceTimer)
    clearTimeout(retryTimer)
  }
  startWatching()
  return {
    [Symbol.dispose]() {
      isClosed = true
      close()
    },
  }
}

/** Kubernetes replaces the files of a mounted ConfigMap by replacing the link `..data`. */
function isRelevantEvent(folder: WatchedFolder, name: string): boolean {
  return folder.isRelevant(name) || name.startsWith('..')
}
