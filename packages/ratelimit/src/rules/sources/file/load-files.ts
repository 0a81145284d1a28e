import { setTimeout as wait } from 'node:timers/promises'
import { toMessage, toReason } from '@portcullis/service-kit/text/reason'
import { packRules } from '../../../hot/index.ts'
import type { IgnoredOverride } from '../../match/override.ts'
import { compileInTurns, type RuleSnapshot } from '../../match/snapshot.ts'
import { type RuleFault, toLoadError } from '../../model/fault.ts'
import { parseRuleFiles, type RuleFile } from '../../yaml/parse.ts'
import { type PackedParse, parseInWorker } from '../../yaml/parse-thread.ts'
import type { LoadFailure, RuleSourceParts } from '../source.ts'
import {
  type RuleDirectory,
  type RuleDirectoryOptions,
  readRuleDirectory,
} from './rule-directory.ts'
import { fingerprintEntries, type RulePlace } from './rule-place.ts'

/** The rules could not be loaded; the message says why. */
class LoadError extends Error {
  override readonly name = 'LoadError'
  readonly faults: readonly RuleFault[]

  constructor(message: string, faults: readonly RuleFault[] = [], options?: ErrorOptions) {
    super(message, options)
    this.faults = faults
  }
}

/** Accepts any error: rules that cannot be loaded must not stop a service that has earlier rules. */
export function toLoadFailure(error: unknown): LoadFailure {
  const faults = error instanceof LoadError ? error.faults : []
  return { message: toMessage(error), faults }
}

/** How often to read a folder that changes in the meantime, because its files may be inconsistent. */
const mostReadings = 5

interface ReadOptions extends RuleDirectoryOptions {
  readonly retryMs: number
  readonly signal: AbortSignal
}

/** Reads again until nothing changes during the reading, so that a load never mixes two states. */
export async function readConsistently(
  place: RulePlace,
  options: ReadOptions,
): Promise<RuleDirectory> {
  for (let reading = 1; reading <= mostReadings; reading += 1) {
    const directory = await resolveDirectory(place)
    const before = await fingerprintEntries(directory)
    const found = await readDirectory(directory, options)
    const isSteady = before === (await fingerprintEntries(directory))
    if (isSteady && directory === (await resolveDirectory(place))) return found
    await wait(options.retryMs, undefined, { signal: options.signal })
  }
  throw new LoadError(`${place.directory} changes faster than it can be read`)
}

async function resolveDirectory(place: RulePlace): Promise<string> {
  try {
    return await place.resolve()
  } catch (error) {
    const reason = `cannot be opened (${toReason(error)})`
    const message = `the rule folder ${place.directory} ${reason}; ${place.advice}`
    throw new LoadError(message, [], { cause: error })
  }
}

async function readDirectory(
  directory: string,
  options: RuleDirectoryOptions,
): Promise<RuleDirectory> {
  try {
    return await readRuleDirectory(directory, options)
  } catch (error) {
    const message = `the rule folder ${directory} cannot be read (${toReason(error)})`
    throw new LoadError(message, [], { cause: error })
  }
}

interface ParseAndCompileOptions {
  /** The errors of files that are not text. */
  readonly brokenFiles: readonly RuleFault[]
  readonly mergeDomains: boolean
  /** Whether to parse in another thread, so that decisions are not blocked. */
  readonly isInBackground: boolean
  readonly onIgnoredOverride: IgnoredOverride
  readonly counters: RuleSourceParts['counters']
  readonly signal: AbortSignal
}

interface CompiledFiles {
  readonly snapshot: RuleSnapshot
  readonly warnings: readonly RuleFault[]
}

export async function parseAndCompile(
  files: readonly RuleFile[],
  options: ParseAndCompileOptions,
): Promise<CompiledFiles> {
  const { brokenFiles, mergeDomains, isInBackground, counters, onIgnoredOverride, signal } = options
  const parsed = isInBackground
    ? await parseInWorker(files, { mergeDomains })
    : parseHere(files, { mergeDomains })
  const { rules, warnings } = parsed
  const faults = [...brokenFiles, ...parsed.faults]
  const [first] = faults
  if (first !== undefined) throw new LoadError(toLoadError(first), faults)
  const snapshot = await compileInTurns({ rules, counters, onIgnoredOverride }, signal)
  return { snapshot, warnings }
}

function parseHere(
  files: readonly RuleFile[],
  options: { readonly mergeDomains: boolean },
): PackedParse {
  const { rules, faults, warnings } = parseRuleFiles(files, options)
  return { rules: packRules(rules), faults, warnings }
}
