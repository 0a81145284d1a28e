import type { YamlList, YamlMap, YamlNode } from '../../yaml/yaml-node.ts'
import { FieldReader, isNull, type RuleFileReading } from './field-reader.ts'

/**
 * The fields of a file, a rule, a limit or a replaced name: their types are checked, their values are not.
 */
interface FileDraft {
  domain: string
  domainAt: number
  descriptors: YamlList | undefined
}

export interface RuleDraft {
  key: string
  value: string
  limit: YamlMap | undefined
  shadowMode: boolean
  quotaMode: boolean
  detailedMetric: boolean
  valueToMetric: boolean
  shareThreshold: boolean
  metadata: YamlMap | undefined
  descriptors: YamlList | undefined
}

export interface LimitDraft {
  requestsPerUnit: number | undefined
  unit: string
  unitAt: number
  unitMultiplier: number | undefined
  unitMultiplierAt: number
  algorithm: string | undefined
  algorithmAt: number
  unlimited: boolean
  name: string
  replaces: YamlList | undefined
}

interface NameDraft {
  name: string
}

export function readFileDraft(map: YamlMap, reading: RuleFileReading): FileDraft {
  const draft = { domain: '', domainAt: map.offset, descriptors: undefined }
  return readFields(map, fileFields, draft, reading)
}

export function readRuleDraft(map: YamlMap, reading: RuleFileReading): RuleDraft {
  const draft: RuleDraft = {
    key: '',
    value: '',
    limit: undefined,
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
    metadata: undefined,
    descriptors: undefined,
  }
  return readFields(map, ruleFields, draft, reading)
}

export function readLimitDraft(map: YamlMap, reading: RuleFileReading): LimitDraft {
  const draft: LimitDraft = {
    requestsPerUnit: undefined,
    unit: '',
    unitAt: map.offset,
    unitMultiplier: undefined,
    unitMultiplierAt: map.offset,
    algorithm: undefined,
    algorithmAt: map.offset,
    unlimited: false,
    name: '',
    replaces: undefined,
  }
  return readFields(map, limitFields, draft, reading)
}

export function readReplacedName(map: YamlMap, reading: RuleFileReading): string {
  return readFields(map, nameFields, { name: '' }, reading).name
}

/** Setters of a draft by the name of the field in the file. */
type Fields<Draft> = ReadonlyMap<string, FieldSetter<Draft>>
type FieldSetter<Draft> = (draft: Draft, value: YamlNode, read: FieldReader) => void

function defineFields<Draft>(setters: Record<string, FieldSetter<Draft>>): Fields<Draft> {
  return new Map(Object.entries(setters))
}

const fileFields = defineFields<FileDraft>({
  domain: (file, value, read) => {
    file.domain = read.text('domain', value)
    file.domainAt = value.offset
  },
  descriptors: (file, value, read) => {
    file.descriptors = read.list('descriptors', value)
  },
})

const ruleFields = defineFields<RuleDraft>({
  key: (rule, value, read) => {
    rule.key = read.text('key', value)
  },
  value: (rule, value, read) => {
    rule.value = read.text('value', value)
  },
  rate_limit: (rule, value, read) => {
    rule.limit = read.map('rate_limit', value)
  },
  shadow_mode: (rule, value, read) => {
    rule.shadowMode = read.flag('shadow_mode', value)
  },
  quota_mode: (rule, value, read) => {
    rule.quotaMode = read.flag('quota_mode', value)
  },
  detailed_metric: (rule, value, read) => {
    rule.detailedMetric = read.flag('detailed_metric', value)
  },
  value_to_metric: (rule, value, read) => {
    rule.valueToMetric = read.flag('value_to_metric', value)
  },
  share_threshold: (rule, value, read) => {
    rule.shareThreshold = read.flag('share_threshold', value)
  },
  metadata: (rule, value, read) => {
    rule.metadata = read.map('metadata', value)
  },
  descriptors: (rule, value, read) => {
    rule.descriptors = read.list('descriptors', value)
  },
})

const limitFields = defineFields<LimitDraft>({
  requests_per_unit: (limit, value, read) => {
    limit.requestsPerUnit = read.count('requests_per_unit', value)
  },
  unit: (limit, value, read) => {
    limit.unit = read.text('unit', value)
    limit.unitAt = value.offset
  },
  unit_multiplier: (limit, value, read) => {
    limit.unitMultiplier = read.count('unit_multiplier', value, 1)
    limit.unitMultiplierAt = value.offset
  },
  algorithm: (limit, value, read) => {
    limit.algorithm = isNull(value) ? undefined : read.text('algorithm', value)
    limit.algorithmAt = value.offset
  },
  unlimited: (limit, value, read) => {
    limit.unlimited = read.flag('unlimited', value)
  },
  name: (limit, value, read) => {
    limit.name = read.text('name', value)
  },
  replaces: (limit, value, read) => {
    limit.replaces = read.list('replaces', value)
  },
})

const nameFields = defineFields<NameDraft>({
  name: (replaced, value, read) => {
    replaced.name = read.text('name', value)
  },
})

/** The names that are meaningful in each kind of map. */
export const fieldNames = {
  file: [...fileFields.keys()],
  rule: [...ruleFields.keys()],
  limit: [...limitFields.keys()],
  replacedName: [...nameFields.keys()],
} as const

/** Allowed at every level, as in envoyproxy/ratelimit; a field without effect causes a warning. */
export const knownKeys: ReadonlySet<string> = new Set(Object.values(fieldNames).flat())

function readFields<Draft>(
  map: YamlMap,
  fields: Fields<Draft>,
  draft: Draft,
  reading: RuleFileReading,
): Draft {
  const read = new FieldReader(map, reading)
  for (const { name, nameType, offset, value } of map.entries) {
    const set = fields.get(name)
    if (nameType === 'string' && set !== undefined) set(draft, value, read)
    else if (knownKeys.has(name)) reading.warnings.add(offset, toMisplacedFieldFault(name))
  }
  return draft
}

function toMisplacedFieldFault(name: string): string {
  const home = homes.find(([fields]) => fields.has(name))?.[1] ?? 'elsewhere'
  return `'${name}' has no effect here, it belongs ${home}`
}

const homes: readonly (readonly [{ has(name: string): boolean }, string])[] = [
  [ruleFields, 'to a descriptor, next to its key'],
  [limitFields, 'inside rate_limit'],
  [fileFields, 'at the top of the file'],
]
