import { fromBinary, type JsonObject, type JsonValue } from '@bufbuild/protobuf'
import type { Any } from '@bufbuild/protobuf/wkt'
import { toReason } from '@portcullis/service-kit/text/reason'
import { DiscoveryResponseSchema } from '../../../protocol/generated/envoy/service/discovery/v3/discovery_pb.ts'
import {
  type RateLimitConfig,
  RateLimitConfigSchema,
  type RateLimitDescriptor,
  type RateLimitPolicy,
} from '../../../protocol/generated/ratelimit/v3/rls_conf_pb.ts'
import type { ScalarType, YamlEntry, YamlList, YamlMap, YamlNode } from '../../../yaml/yaml-node.ts'
import type { RuleFault } from '../../model/fault.ts'
import { type RuleSet, unitByWire } from '../../model/rule.ts'
import { createReading } from '../../yaml/field-reader.ts'
import { RuleLoading } from '../../yaml/parse-rules.ts'

/** An error in a resource. Resources have no lines, so its place has only a name. */
export interface ResourceFault extends RuleFault {
  /** For example `descriptors[3].rate_limit`; empty for the resource as a whole. */
  readonly path: string
}

interface ParsedResources {
  /** Empty if there are faults. */
  readonly rules: RuleSet
  /** The names of the resources in messages. */
  readonly names: readonly string[]
  /** The first one is that at which envoyproxy/ratelimit would have stopped. */
  readonly faults: readonly ResourceFault[]
  readonly warnings: readonly ResourceFault[]
}

/** Parses the resources of a `DiscoveryResponse`. Throws only if it is not a `DiscoveryResponse`. */
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
    // The reader treats the number of a node as an offset in a single line of text.
    const locate = (fault: RuleFault): ResourceFault => ({
      ...fault,
      path: toNodePath(tree, fault.place.column - 1),
    })
    faults.push(...reading.rules.toArray().map(locate))
    warnings.push(...reading.warnings.toArray().map(locate))
  }
  // All resources are decoded before the first rule is checked, so these faults come first.
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

/**
 * Converts a resource to the equivalent rule file, so that the same checks apply to both. Nodes are numbered
 * in depth-first order instead of having offsets in a text.
 */
export function toResourceTree(config: RateLimitConfig): YamlMap {
  return new TreeWriter().toConfig(config)
}

class TreeWriter {
  #nodes = 0

  toConfig({ domain, descriptors }: RateLimitConfig): YamlMap {
    return this.#map((add) => {
      add('domain', this.#text(domain))
      add('descriptors', this.#toDescriptors(descriptors))
    })
  }

  #toDescriptors(descriptors: readonly RateLimitDescriptor[]): YamlList {
    return this.#list(descriptors, (descriptor) => this.#toDescriptor(descriptor))
  }

  /** Default values are omitted, as in a file. */
  #toDescriptor(descriptor: RateLimitDescriptor): YamlMap {
    const { key, value, rateLimit, shadowMode, quotaMode, detailedMetric } = descriptor
    const { metadata, descriptors } = descriptor
    return this.#map((add) => {
      add('key', this.#text(key))
      if (value !== '') add('value', this.#text(value))
      if (rateLimit !== undefined) add('rate_limit', this.#toLimit(rateLimit))
      if (shadowMode) add('shadow_mode', this.#yes())
      if (quotaMode) add('quota_mode', this.#yes())
      if (detailedMetric) add('detailed_metric', this.#yes())
      if (metadata !== undefined) add('metadata', this.#toObject(metadata))
      if (descriptors.length > 0) add('descriptors', this.#toDescriptors(descriptors))
    })
  }

  #toLimit({ unit, requestsPerUnit, unlimited, name, replaces }: RateLimitPolicy): YamlMap {
    return this.#map((add) => {
      add('unit', this.#text(toUnitName(unit)))
      add('requests_per_unit', this.#scalar('integer', String(requestsPerUnit)))
      if (unlimited) add('unlimited', this.#yes())
      if (name !== '') add('name', this.#text(name))
      if (replaces.length > 0) {
        add(
          'replaces',
          this.#list(replaces, (replaced) =>
            this.#map((addField) => addField('name', this.#text(replaced.name))),
          ),
        )
      }
    })
  }

  #toObject(object: JsonObject): YamlMap {
    return this.#map((add) => {
      for (const [name, value] of Object.entries(object)) add(name, this.#toValue(value))
    })
  }

  #toValue(value: JsonValue): YamlNode {
    if (value === null) return this.#scalar('null', 'null')
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'boolean') return this.#scalar('boolean', String(value))
    if (typeof value === 'number') return this.#scalar('float', toNumberText(value))
    if (Array.isArray(value)) return this.#list(value, (item) => this.#toValue(item))
    return this.#toObject(value)
  }

  #map(write: (add: (name: string, value: YamlNode) => void) => void): YamlMap {
    const offset = this.#nodes++
    const entries: YamlEntry[] = []
    write((name, value) => {
      entries.push({ name, nameType: 'string', offset: value.offset, value })
    })
    return { kind: 'map', entries, offset }
  }

  #list<Item>(items: readonly Item[], toNode: (item: Item) => YamlNode): YamlList {
    const offset = this.#nodes++
    return { kind: 'list', items: items.map(toNode), offset }
  }

  #text(text: string): YamlNode {
    return this.#scalar('string', text)
  }

  #yes(): YamlNode {
    return this.#scalar('boolean', 'true')
  }

  #scalar(type: ScalarType, text: string): YamlNode {
    return { kind: 'scalar', type, text, offset: this.#nodes++ }
  }
}

/** Formats a unit like Go, as in the messages of envoyproxy/ratelimit. */
function toUnitName(unit: number): string {
  return unit === 0 ? 'UNKNOWN' : (unitByWire(unit)?.name ?? String(unit))
}

/** Uses the YAML names of numbers that JSON lacks; they are refused later. */
function toNumberText(value: number): string {
  if (Number.isNaN(value)) return '.nan'
  return Number.isFinite(value) ? String(value) : `${value > 0 ? '' : '-'}.inf`
}

/** The path of a node, such as `descriptors[3].rate_limit.unit`; empty for the tree itself. */
export function toNodePath(tree: YamlNode, offset: number): string {
  let path = ''
  let node: YamlNode = tree
  while (node.offset < offset) {
    const [step, inside] = stepTowards(node, offset)
    if (inside === undefined) break
    path += path === '' ? step.replace(/^\./, '') : step
    node = inside
  }
  return path
}

/** Nodes are numbered in order, so the target is inside the last child that does not come after it. */
function stepTowards(node: YamlNode, offset: number): [string, YamlNode | undefined] {
  if (node.kind === 'map') {
    const entry = node.entries.findLast(({ value }) => value.offset <= offset)
    return [`.${entry?.name}`, entry?.value]
  }
  if (node.kind === 'list') {
    const index = node.items.findLastIndex((item) => item.offset <= offset)
    return [`[${index}]`, node.items[index]]
  }
  return ['', undefined]
}
