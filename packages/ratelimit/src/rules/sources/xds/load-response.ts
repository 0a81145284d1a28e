import { addAbortListener } from 'node:events'
import { packRules } from '../../../hot/index.ts'
import type { IgnoredOverride } from '../../match/override.ts'
import { compileInTurns, type RuleSnapshot } from '../../match/snapshot.ts'
import type { RuleSourceParts } from '../source.ts'
import { parseResources, type ResourceFault } from './parse-resources.ts'
import { type PackedResponse, ResourceThread } from './resource-thread.ts'

interface LoadSettings {
  readonly mergeDomains: boolean
  readonly counters: RuleSourceParts['counters']
  readonly onIgnoredOverride: IgnoredOverride
  readonly signal: AbortSignal
}

interface LoadedResponse {
  readonly snapshot: RuleSnapshot
  readonly warnings: readonly ResourceFault[]
}

/** The rules of a response are invalid. */
export class ResourceError extends Error {
  override readonly name = 'ResourceError'
  readonly faults: readonly ResourceFault[]

  constructor(faults: readonly ResourceFault[]) {
    const [first] = faults
    super(first && `${first.place.file}: ${first.message}`)
    this.faults = faults
  }
}

/** Parsing this many bytes takes a few milliseconds, less than starting a thread. */
const mostBytesHere = 16 * 1024

/**
 * Parses a response and compiles its rules without blocking decisions, however many rules there are. The
 * memory of the response may be transferred and must not be used afterwards.
 * @throws ResourceError, or any error of the thread
 */
export async function loadResponse(
  response: Buffer<ArrayBuffer>,
  { mergeDomains, counters, onIgnoredOverride, signal }: LoadSettings,
): Promise<LoadedResponse> {
  const { rules, faults, warnings } =
    response.length > mostBytesHere
      ? await parseInThread(response, mergeDomains, signal)
      : parseHere(response, mergeDomains)
  if (faults.length > 0) throw new ResourceError(faults)
  const snapshot = await compileInTurns({ rules, counters, onIgnoredOverride }, signal)
  return { snapshot, warnings }
}

function parseHere(response: Buffer, mergeDomains: boolean): PackedResponse {
  const { rules, faults, warnings } = parseResources(response, { mergeDomains })
  return { rules: packRules(rules), faults, warnings }
}

async function parseInThread(
  response: Buffer<ArrayBuffer>,
  mergeDomains: boolean,
  signal: AbortSignal,
): Promise<PackedResponse> {
  await using thread = new ResourceThread({ response, mergeDomains })
  using _ = addAbortListener(signal, () => void thread[Symbol.asyncDispose]())
  return await thread.parsed
}
