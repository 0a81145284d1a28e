import type { Log } from '@portcullis/service-kit/log/log'
import { Resources } from '@portcullis/service-kit/process/resources'
import { type Fault, toFaultText } from '@portcullis/service-kit/settings/env'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { Config } from '../config/config.ts'
import { planReload, type ReloadPlan, type SourcedConfig } from './reload-plan.ts'
import { type WatchedFolder, watchFolders } from './watch-folders.ts'

/** A configuration that was read, and may be invalid. */
export interface LoadedConfig extends SourcedConfig {
  readonly faults: readonly Fault[]
  readonly notes: readonly string[]
}

export interface ReloadingSettings {
  /** The configuration that the server was started with. */
  readonly started: LoadedConfig
  /** Reads the configuration again. @throws {Error} if a file cannot be read. */
  readonly load: () => LoadedConfig
  /** Changes the server to a valid configuration. @throws {Error} if it keeps the previous one. */
  readonly apply: (config: Config) => Promise<void>
  /** The folders with the configuration files. If empty, only signals cause a reload. */
  readonly folders: readonly WatchedFolder[]
  readonly log: Pick<Log, 'error' | 'warning' | 'info'>
}

export interface Reloading extends AsyncDisposable {
  /** Reloads even if nothing has changed, so that templates are fetched again. */
  reload(): void
}

type ReloadCondition = 'if changed' | 'always'

const kept = 'The previous configuration stays in effect'

/**
 * Changes a running server to a changed configuration. An invalid configuration is logged, and the
 * server keeps the previous one.
 */
export function openReloading(settings: ReloadingSettings): Reloading {
  const { started, load, apply, folders, log } = settings
  const { notifyEnabled, pollerEnabled, pollerIntervalMs, gracePeriodMs } = started.config.reloading
  let running: SourcedConfig = started
  let notes: ReadonlySet<string> = new Set(started.notes)
  /** The last error that was logged; reading the same file again must not repeat it. */
  let problem: string | undefined
  let restartNames = ''
  /** The request that the next run handles; several requests are combined. */
  let requested: ReloadCondition | undefined
  let isClosed = false
  let work: Promise<void> | undefined

  const request = (condition: ReloadCondition): void => {
    if (isClosed) return
    requested = requested === 'always' ? 'always' : condition
    work ??= runWhileRequested().finally(() => {
      work = undefined
    })
  }
  const runWhileRequested = async (): Promise<void> => {
    while (requested !== undefined && !isClosed) {
      const isForced = requested === 'always'
      requested = undefined
      await run(isForced)
    }
  }
  const refuse = (message: string, isForced: boolean): void => {
    if (message !== problem || isForced) log.error(`${message}. ${kept}`)
    problem = message
  }
  const run = async (isForced: boolean): Promise<void> => {
    let next: LoadedConfig
    try {
      next = load()
    } catch (error) {
      refuse(`The configuration was not reloaded: ${toMessage(error)}`, isForced)
      return
    }
    if (next.faults.length > 0) {
      const faults = next.faults.map(toFaultText).join('; ')
      refuse(`The configuration was not reloaded because it is invalid: ${faults}`, isForced)
      return
    }
    const plan = planReload(started, running, next)
    if (plan.hasChanged || isForced) {
      try {
        await apply(plan.config)
      } catch (error) {
        refuse(`The configuration could not be applied: ${toMessage(error)}`, isForced)
        return
      }
      log.info(`Reloaded the configuration${describeChanges(plan)}`)
    } else if (problem !== undefined) {
      log.info('The configuration is valid again and has not changed')
    }
    problem = undefined
    running = { config: plan.config, sources: next.sources }
    for (const note of next.notes) if (!notes.has(note)) log.warning(note)
    notes = new Set(next.notes)
    reportRestart(plan.needRestart, isForced)
  }
  const reportRestart = (names: readonly string[], isForced: boolean): void => {
    const text = names.join(', ')
    const isNew = text !== restartNames
    restartNames = text
    if (text !== '' && (isNew || isForced)) {
      log.warning(`These changed settings take effect after a restart: ${text}`)
    }
  }

  const resources = new Resources()
  const startPolling = (): void => {
    const timer = setInterval(() => request('if changed'), pollerIntervalMs)
    timer.unref()
    resources.use({ [Symbol.dispose]: () => clearInterval(timer) })
  }
  const onUnsupported = (reason: string): void => {
    if (pollerEnabled) {
      log.warning(
        `The configuration files cannot be watched; they are only read every ${pollerIntervalMs} ms: ${reason}`,
      )
      return
    }
    log.warning(
      `The configuration files cannot be watched: ${reason}. Set AUTH_RELOADING_POLLER_ENABLED=true, ` +
        'or send SIGHUP after a change',
    )
  }
  if (folders.length > 0 && notifyEnabled) {
    const onChange = () => request('if changed')
    resources.use(watchFolders({ folders, gracePeriodMs, onChange, onUnsupported }))
  }
  // Also while the folders are watched: network file systems do not report changes by other machines.
  if (folders.length > 0 && pollerEnabled) startPolling()
  return {
    reload: () => request('always'),
    async [Symbol.asyncDispose]() {
      isClosed = true
      await resources[Symbol.asyncDispose]()
      await work
    },
  }
}

/** Settings that need a restart are logged on their own line. */
function describeChanges({ changed, needRestart }: ReloadPlan): string {
  if (changed.length > 0) return `; changed: ${changed.join(', ')}`
  return needRestart.length > 0 ? '' : '; no setting has changed'
}
