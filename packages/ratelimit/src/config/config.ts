import {
  createCheck,
  namesOf,
  noteMisspellings,
} from '@portcullis/service-kit/settings/config-check'
import {
  type EffectiveSetting,
  listEffectiveSettings,
} from '@portcullis/service-kit/settings/effective-settings'
import {
  type Chapters,
  type Environment,
  type Fault,
  readSettings,
} from '@portcullis/service-kit/settings/env'
import { isShared, type StoreConfig } from '../counters/plugins.ts'
import { type DecisionsConfig, decisions, toDecisions } from './decisions.ts'
import { grpcLimits } from './grpc-limits.ts'
import { type ListenersConfig, listeners, toListeners } from './listeners.ts'
import {
  type LifecycleConfig,
  type LogConfig,
  processSettings,
  toLifecycle,
  toLog,
  toWorkers,
} from './process.ts'
import { type RulesConfig, rulesChapters, toRules } from './rules.ts'
import { isSinkVariable, type StatsConfig, statsChapters, toStats } from './stats.ts'
import { storeChapters, toStore } from './store.ts'
import { type TracingConfig, toTracing, tracing } from './tracing.ts'

/** Every environment variable. Validation, `serve --help` and the manual are generated from this table. */
export const chapters = {
  listeners,
  grpcLimits,
  process: processSettings,
  ...rulesChapters,
  decisions,
  ...storeChapters,
  ...statsChapters,
  tracing,
} satisfies Chapters

export interface Config {
  readonly listeners: ListenersConfig
  readonly log: LogConfig
  readonly lifecycle: LifecycleConfig
  /** The number of processes that share the work; 1 means that only this process does. */
  readonly workers: number
  readonly rules: RulesConfig
  readonly decisions: DecisionsConfig
  readonly store: StoreConfig
  readonly stats: StatsConfig
  readonly tracing: TracingConfig | undefined
  /** All settings for operators, without secrets. */
  readonly effective: readonly EffectiveSetting[]
}

export interface ParsedConfig {
  /** Valid only when there are no faults. */
  readonly config: Config
  /** The errors that keep the service from starting. */
  readonly faults: readonly Fault[]
  /** Warnings for the log. */
  readonly notes: readonly string[]
}

/** @param fromArguments variables that the command line sets. They override the environment. */
export function parseConfig(env: Environment, fromArguments: Environment = {}): ParsedConfig {
  const reading = readSettings(chapters, fromArguments, env)
  const { settings } = reading
  const check = createCheck(reading)
  const storeConfig = toStore(settings, check)
  const config: Config = {
    listeners: toListeners(settings.listeners, settings.grpcLimits, check),
    log: toLog(settings.process),
    lifecycle: toLifecycle(settings.process),
    workers: toWorkers(settings.process, isShared(storeConfig), check),
    rules: toRules(settings, check),
    decisions: toDecisions(settings.decisions, check),
    store: storeConfig,
    stats: toStats(settings, env, check),
    tracing: toTracing(settings.tracing),
    effective: listEffectiveSettings(chapters, reading, ['argument', 'environment']),
  }
  const names = namesOf(env).filter((name) => !isSinkVariable(name))
  noteMisspellings(chapters, names, check)
  return { config: freeze(config), faults: check.faults, notes: check.notes }
}

/** Maps and regular expressions are not frozen: their types are already read-only. */
function freeze<Value>(value: Value): Value {
  const isPlain =
    Array.isArray(value) ||
    (typeof value === 'object' &&
      value !== null &&
      Object.getPrototypeOf(value) === Object.prototype)
  if (isPlain) for (const inner of Object.values(value)) freeze(inner)
  return isPlain ? Object.freeze(value) : value
}
