import { isDeepStrictEqual } from 'node:util'
import {
  type AnyVariable,
  type Environment,
  readSettings,
} from '@portcullis/service-kit/settings/env'
import { type Config, chapters } from '../config/config.ts'

/** The environment and the files, as for `parseConfig`. */
type Sources = readonly Environment[]

/** A configuration, and the sources that it was parsed from. */
export interface SourcedConfig {
  readonly config: Config
  readonly sources: Sources
}

/** How a running server changes to another configuration. */
export interface ReloadPlan {
  /** The new configuration, with the running values of all settings that need a restart. */
  readonly config: Config
  readonly hasChanged: boolean
  /** The names of changed variables that take effect. */
  readonly changed: readonly string[]
  /** The names of variables that differ from the running server and need a restart. */
  readonly needRestart: readonly string[]
}

const { api, limits } = chapters

/** Settings of the process that a reload cannot change: ports, connections, log and telemetry. */
const restartVariables: ReadonlySet<AnyVariable> = new Set<AnyVariable>([
  ...Object.values(chapters.database.variables),
  ...Object.values(chapters.migrations.variables),
  ...Object.values(chapters.observability.variables),
  ...Object.values(chapters.openTelemetry.variables),
  ...Object.values(chapters.profiler.variables),
  ...Object.values(chapters.processes.variables),
  ...Object.values(chapters.reloading.variables),
  api.variables.host,
  api.variables.port,
  api.variables.maxRequestDurationMs,
  api.variables.drainTimeoutMs,
  chapters.apiKeys.variables.checksAddress,
  chapters.apiKeys.variables.checksCert,
  chapters.apiKeys.variables.checksKey,
  chapters.apiKeys.variables.checksClientCa,
  limits.variables.serviceUrl,
  limits.variables.serviceTimeoutMs,
])

/**
 * @param started the configuration that the process was started with.
 * @param running the configuration that requests use at present.
 */
export function planReload(
  started: SourcedConfig,
  running: SourcedConfig,
  next: SourcedConfig,
): ReloadPlan {
  const config = withRunningParts(started.config, next.config)
  const changed = listDifferences(running.sources, next.sources)
  const sinceStart = listDifferences(started.sources, next.sources)
  const names = changed.filter(({ variable }) => !restartVariables.has(variable)).map(toName)
  const { file } = chapters.secrets.variables
  const hasNewKeys = !isDeepStrictEqual(running.config.secrets, config.secrets)
  return {
    config,
    hasChanged: !isDeepStrictEqual(withoutReport(running.config), withoutReport(config)),
    // The value of this variable is a path, which stays the same when the content of the file changes.
    changed: hasNewKeys && names.length === 0 ? [file.name] : names,
    needRestart: sinceStart.filter(({ variable }) => restartVariables.has(variable)).map(toName),
  }
}

const restartNames: ReadonlySet<string> = new Set([...restartVariables].map(({ name }) => name))

/** A value that is only written differently, or in another place, does not need a reload. */
function withoutReport({ effective: _, ...values }: Config): Omit<Config, 'effective'> {
  return values
}

function withRunningParts(running: Config, next: Config): Config {
  const { host, port, maxRequestDurationMs, drainTimeoutMs } = running.api
  const { serviceUrl, service, serviceTimeoutMs } = running.limits
  return {
    ...next,
    database: running.database,
    migrations: running.migrations,
    observability: running.observability,
    openTelemetry: running.openTelemetry,
    profiler: running.profiler,
    workers: running.workers,
    reloading: running.reloading,
    apiKeys: { ...next.apiKeys, checks: running.apiKeys.checks },
    api: { ...next.api, host, port, maxRequestDurationMs, drainTimeoutMs },
    limits: { ...next.limits, serviceUrl, service, serviceTimeoutMs },
    effective: next.effective.map((setting, index) =>
      restartNames.has(setting.name) ? (running.effective[index] ?? setting) : setting,
    ),
  }
}

interface Difference {
  readonly variable: AnyVariable
  readonly name: string
}

function toName({ name }: Difference): string {
  return name
}

/** Lists the variables whose values differ, with the names under which they are or were set. */
function listDifferences(before: Sources, after: Sources): readonly Difference[] {
  const [old, current] = [readSettings(chapters, ...before), readSettings(chapters, ...after)]
  return Object.entries(chapters).flatMap(([chapter, { variables }]) =>
    Object.entries<AnyVariable>(variables).flatMap(([key, variable]) => {
      const [from, to] = [old, current].map(({ settings }) => toValues(settings, chapter)[key])
      if (isDeepStrictEqual(from, to)) return []
      const name = current.nameAsSet(variable) ?? old.nameAsSet(variable) ?? variable.name
      return [{ variable, name }]
    }),
  )
}

type Values = Readonly<Record<string, unknown>>

function toValues(settings: object, chapter: string): Values {
  return (settings as Readonly<Record<string, Values>>)[chapter] ?? {}
}

/** A configuration that a server can change to at any time. */
export interface PreparedChange {
  /** New requests use the new configuration; those in progress finish with the old one. */
  commit(): void
  /** Keeps the old configuration. */
  discard(): Promise<void>
}

/**
 * Prepares the change to another configuration while the current one stays in effect.
 * @throws {Error} if it cannot be used.
 */
export type PrepareChange = (config: Config) => Promise<PreparedChange>
