import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'

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
const longestBurst = 10

/** How long to wait before a missing folder is looked up again. */
const missingMs = 1_000

/**
 * Watches folders instead of files: editors and configuration managers replace files, and a watch
 * stays on the replaced one.
 */
export function watchFolders(settings: WatchSettings): Disposable {
  const { folders, onChange, gracePeriodMs, onUnsupported, watchFolder = watch } = settings
  const watchers = new Map<WatchedFolder, FSWatcher>()
  let quiet: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined
  let firstEventMs = 0
  let isClosed = false

  const onEvent = (): void => {
    const nowMs = performance.now()
    if (quiet === undefined) firstEventMs = nowMs
    clearTimeout(quiet)
    const leftMs = firstEventMs + gracePeriodMs * longestBurst - nowMs
    quiet = setTimeout(
      () => {
        quiet = undefined
        arm()
        onChange()
      },
      Math.max(0, Math.min(gracePeriodMs, leftMs)),
    )
  }
  const disarm = (folder: WatchedFolder): void => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }
  const onFailure = (folder: WatchedFolder, error: unknown): void => {
    disarm(folder)
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) {
      isClosed = true
      close()
      onUnsupported(error instanceof Error ? error.message : String(error))
      return
    }
    retry ??= setTimeout(() => {
      retry = undefined
      arm()
    }, missingMs)
    retry.unref()
  }
  const arm = (): void => {
    for (const folder of folders) {
      if (isClosed || watchers.has(folder)) continue
      try {
        const watcher = watchFolder(folder.path, { persistent: false }, (_event, name) => {
          // There is an event for the folder itself when it is moved or deleted; its watch is
          // useless then.
          if (name === basename(folder.path)) disarm(folder)
          else if (name !== null && !isMeant(folder, name)) return
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
    for (const folder of [...watchers.keys()]) disarm(folder)
    clearTimeout(quiet)
    clearTimeout(retry)
  }
  arm()
  return {
    [Symbol.dispose]() {
      isClosed = true
      close()
    },
  }
}

/** Kubernetes replaces the files of a mounted ConfigMap by replacing the link `..data`. */
function isMeant(folder: WatchedFolder, name: string): boolean {
  return folder.isRelevant(name) || name.startsWith('..')
}
