import { fromBinary } from '@bufbuild/protobuf'
import type { Any } from '@bufbuild/protobuf/wkt'
import { DiscoveryResponseSchema } from '../../../protocol/generated/envoy/service/discovery/v3/discovery_pb.ts'
import {
  type RateLimitConfig,
  RateLimitConfigSchema,
} from '../../../protocol/generated/ratelimit/v3/rls_conf_pb.ts'
import type { RuleFault } from '../../model/fault.ts'
import type { RuleSet } from '../../model/rule.ts'
import { createReading } from '../../yaml/parse-file.ts'
import { RuleLoading } from '../../yaml/parse-rules.ts'
import { toReason } from './reason.ts'
import { toNodePath, toResourceTree } from './resource-tree.ts'

/** A fault of a resource, which has no lines; its place has the name and no more. */
export interface ResourceFault extends RuleFault {
  /** Such as `descriptors[3].rate_limit`; empty: the resource as a whole. */
  readonly path: string
}

export interface ParsedResources {
  /** Empty when there is any fault. */
  readonly rules: RuleSet
  /** What messages call the resources. */
  readonly names: readonly string[]
  /** The first is the one at which envoyproxy/ratelimit would have stopped. */
  readonly faults: readonly ResourceFault[]
  readonly warnings: readonly ResourceFault[]
}

/** Reads the resources of a `DiscoveryResponse` into rules. Throws only where it is none. */
export function parseResources(
  response: Uint8Array,
  { mergeDomains }: { readonly mergeDomains: boolean },
): ParsedResources {
  const { resources } = fromBinary(DiscoveryResponseSchema, response)
  const loading = new RuleLoading(mergeDomains)
  const names: string[] = []
  const undecodable: ResourceFault[] = []
  const faults: ResourceFault[] = []
  const warnings: ResourceFault[] = []
  for (const [index, resource] of resources.entries()) {
    const stand = `resource ${index + 1} of ${resources.length}`
    const config = parseConfig(resource, (message) => undecodable.push(toFault(stand, message)))
    if (config === undefined) continue
    const name = config.name || stand
    names.push(name)
    const tree = toResourceTree(config)
    const reading = createReading(name, '')
    loading.addFile(tree, reading)
    // The reading takes the number of a node for an offset in a single line of text.
    const locate = (fault: RuleFault): ResourceFault => ({
      ...fault,
      path: toNodePath(tree, fault.place.column - 1),
    })
    faults.push(...reading.rules.toArray().map(locate))
    warnings.push(...reading.warnings.toArray().map(locate))
  }
  // All resources are decoded before the first rule is looked at, so these faults come first.
  const all = [...undecodable, ...faults]
  const rules =
    all.length > 0 ? { domains: [], rules: [] } : { domains: loading.domains, rules: loading.rules }
  return { rules, names, faults: all, warnings }
}

function parseConfig(
  { typeUrl, value }: Any,
  refuse: (message: string) => void,
): RateLimitConfig | undefined {
  const type = typeUrl.slice(typeUrl.lastIndexOf('/') + 1)
  const { typeName } = RateLimitConfigSchema
  if (type !== typeName) {
    refuse(`the resource is of type '${type}', not ${typeName}`)
    return undefined
  }
  try {
    return fromBinary(RateLimitConfigSchema, value)
  } catch (error) {
    refuse(`the resource cannot be decoded: ${toReason(error)}`)
    return undefined
  }
}

function toFault(file: string, message: string): ResourceFault {
  return { message, place: { file, line: 1, column: 1 }, path: '' }
}
