import { addAbortListener } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSnapshotBuilder } from '../../compile.ts'
import type { IgnoredOverride } from '../../override.ts'
import { parseRows } from '../../parse-rows.ts'
import type { RuleRecord } from '../../rule.ts'
import type { RuleSnapshot } from '../../snapshot.ts'
import type { RuleSourceParts } from '../source.ts'
import { parseResources, type ResourceFault } from './parse-resources.ts'
import { ResourceThread } from './resource-thread.ts'

export interface LoadSettings {
  readonly mergeDomains: boolean
  readonly counters: RuleSourceParts['counters']
  readonly onIgnoredOverride: IgnoredOverride
  readonly signal: AbortSignal
}

export interface LoadedResponse {
  readonly snapshot: RuleSnapshot
  readonly warnings: readonly ResourceFault[]
}

/** The rules of a response are not in order. */
export class ResourceError extends Error {
  override readonly name = 'ResourceError'
  readonly faults: readonly ResourceFault[]

  constructor(faults: readonly ResourceFault[]) {
    const [first] = faults
    super(first && `${first.place.file}: ${first.message}`)
    this.faults = faults
  }
}

/** So many bytes are parsed within a few milliseconds, and sooner than a thread has started. */
const mostBytesHere = 16 * 1024

/** Reading or compiling one part takes about a millisecond. */
const rulesPerPart = 500

/**
 * Parses a response and compiles its rules, without holding up decisions however many there are.
 * The memory of the response may be gone afterwards.
 * @throws {ResourceError} and whatever a thread can break with.
 */
export async function loadResponse(
  response: Buffer<ArrayBuffer>,
  { mergeDomains, counters, onIgnoredOverride, signal }: LoadSettings,
): Promise<LoadedResponse> {
  const builder = createSnapshotBuilder(counters, onIgnoredOverride)
  // A part is compiled in a turn of its own: receiving it has already taken time from this one.
  const onRules = async (part: readonly RuleRecord[]) => {
    await nextTurn(undefined, { signal })
    builder.add(part)
  }
  const parse = response.length > mostBytesHere ? parseInThread : parseHere
  const { domains, faults, warnings } = await parse(response, { mergeDomains, onRules, signal })
  if (faults.length > 0) throw new ResourceError(faults)
  return { snapshot: builder.finish(domains), warnings }
}

interface Parsed {
  readonly domains: readonly string[]
  readonly faults: readonly ResourceFault[]
  readonly warnings: readonly ResourceFault[]
}

interface ParseSettings {
  readonly mergeDomains: boolean
  readonly onRules: (part: readonly RuleRecord[]) => Promise<void>
  readonly signal: AbortSignal
}

async function parseHere(
  response: Buffer,
  { mergeDomains, onRules }: ParseSettings,
): Promise<Parsed> {
  const { rules, faults, warnings } = parseResources(response, { mergeDomains })
  await onRules(rules.rules)
  return { domains: rules.domains, faults, warnings }
}

async function parseInThread(
  response: Buffer<ArrayBuffer>,
  { mergeDomains, onRules, signal }: ParseSettings,
): Promise<Parsed> {
  await using thread = new ResourceThread({ response, mergeDomains, rulesPerPart })
  using _ = addAbortListener(signal, () => void thread[Symbol.asyncDispose]())
  const { domains, names, ruleCount, faults, warnings } = await thread.summary
  for (let received = 0; received < ruleCount; received += rulesPerPart) {
    await onRules(parseRows(await thread.nextRows(), { domains, files: names }))
  }
  return { domains, faults, warnings }
}
