import { TextLines } from '../../../yaml/text-lines.ts'
import type { YamlNode } from '../../../yaml/yaml-node.ts'
import { readYaml } from '../../../yaml/yaml-reader.ts'
import { createFileMapping, type MapperRule } from './file-mapping.ts'
import { MapperFields } from './mapper-fields.ts'
import { defaultBuckets, type Mapping } from './mapping.ts'

interface MapperFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

interface MapperSettings {
  readonly usesMilliseconds: boolean
}

/** The mapping is undefined if there are faults. */
interface ParsedMapper {
  readonly mapping: Mapping | undefined
  readonly faults: readonly MapperFault[]
}

interface Defaults {
  matchType: 'glob' | 'regex'
  buckets: readonly number[]
}

const noSummary =
  'summaries are not supported: use histogram, whose quantiles Prometheus computes itself'

/**
 * Parses a mapping file of statsd_exporter. Settings that are not supported here are faults: if they were
 * ignored, metrics would have other names, and alerts on them would silently never fire.
 */
export function parseMapper(text: string, settings: MapperSettings): ParsedMapper {
  const document = readYaml(text)
  const fields = new MapperFields([...document.faults])
  const rules = document.root === undefined ? [] : readRoot(document.root, fields)
  const lines = new TextLines(text)
  const faults = fields.faults.map(({ offset, message }) => ({ ...lines.placeOf(offset), message }))
  if (faults.length > 0) return { mapping: undefined, faults }
  return { mapping: createFileMapping(rules, settings), faults }
}

function readRoot(root: YamlNode, fields: MapperFields): MapperRule[] {
  const defaults: Defaults = { matchType: 'glob', buckets: defaultBuckets }
  let mappings: readonly YamlNode[] = []
  fields.read(root, {
    defaults: (node) => readDefaults(node, defaults, fields),
    mappings: (node) => {
      mappings = fields.list(node)
    },
  })
  const rules: MapperRule[] = []
  for (const node of mappings) {
    const rule = readMapping(node, defaults, fields)
    if (rule !== undefined) rules.push(rule)
  }
  return rules
}

function readDefaults(node: YamlNode, defaults: Defaults, fields: MapperFields): void {
  fields.read(node, {
    match_type: (value) => {
      defaults.matchType = fields.choice(value, ['glob', 'regex']) ?? defaults.matchType
    },
    glob_disable_ordering: (value) => {
      if (fields.boolean(value))
        fields.fault(
          value,
          'glob_disable_ordering must be false, because mappings are tried in order',
        )
    },
    ...timerFields(fields, (buckets) => {
      defaults.buckets = buckets
    }),
  })
}

/** The fields about timers that `defaults` and a mapping have in common. */
function timerFields(fields: MapperFields, setBuckets: (buckets: readonly number[]) => void) {
  const readType = (value: YamlNode) => {
    const type = fields.choice(value, ['histogram', 'summary'])
    if (type === 'summary') fields.fault(value, noSummary)
  }
  const readBuckets = (value: YamlNode) => {
    const buckets = fields.ascending(value)
    if (buckets !== undefined) setBuckets(buckets)
  }
  const refuseSummary = (value: YamlNode) => fields.fault(value, noSummary)
  return {
    timer_type: readType,
    observer_type: readType,
    buckets: readBuckets,
    histogram_options: (value: YamlNode) => fields.read(value, { buckets: readBuckets }),
    quantiles: refuseSummary,
    summary_options: refuseSummary,
    ttl: (value: YamlNode) => {
      const text = fields.text(value)
      if (!/^0(?:ns|us|µs|ms|s|m|h)?$/.test(text)) {
        fields.fault(value, 'ttl must be 0, because series do not expire')
      }
    },
  }
}

type Draft = {
  -readonly [Key in Exclude<keyof MapperRule, 'pattern' | 'name' | 'buckets'>]: MapperRule[Key]
}

function readMapping(
  node: YamlNode,
  defaults: Defaults,
  fields: MapperFields,
): MapperRule | undefined {
  let match: YamlNode | undefined
  let name: string | undefined
  let { matchType, buckets } = defaults
  const rule: Draft = {
    isDropped: false,
    type: undefined,
    labels: [],
    help: undefined,
    scale: undefined,
    honorsTags: false,
  }
  fields.read(node, {
    match: (value) => {
      match = value
    },
    match_type: (value) => {
      matchType = fields.choice(value, ['glob', 'regex']) ?? matchType
    },
    match_metric_type: (value) => {
      const type = fields.choice(value, ['counter', 'gauge', 'timer', 'observer'])
      rule.type = type === 'observer' ? 'timer' : type
    },
    name: (value) => {
      name = fields.template(value, 'name')
    },
    labels: (value) => {
      rule.labels = fields.labels(value)
    },
    help: (value) => {
      rule.help = fields.text(value)
    },
    action: (value) => {
      rule.isDropped = fields.choice(value, ['map', 'drop']) === 'drop'
    },
    scale: (value) => {
      rule.scale = fields.number(value)
    },
    honor_labels: (value) => {
      rule.honorsTags = fields.boolean(value)
    },
    ...timerFields(fields, (own) => {
      buckets = own
    }),
  })
  if (match === undefined) fields.fault(node, "a mapping needs 'match'")
  if (name === undefined && !rule.isDropped) fields.fault(node, "a mapping needs 'name'")
  const pattern = match && fields.pattern(match, matchType)
  if (pattern === undefined) return undefined
  return { ...rule, pattern, name: name ?? '', buckets }
}
