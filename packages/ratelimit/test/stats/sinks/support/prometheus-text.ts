/** A sample with its labels in the order they were printed. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ParsedFamily {
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

const valueFormat = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|[+-]Inf|NaN)$/
const labelFormat = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y

/** Parses the text format 0.0.4 strictly, and throws for every violation. */
export function parsePrometheus(text: string): Map<string, ParsedFamily> {
  // There are no series before the first hit.
  if (text === '') return new Map()
  if (!text.endsWith('\n')) throw new Error('the last line has no line break')
  const families = new Map<string, ParsedFamily>()
  const seen = new Set<string>()
  let help: [name: string, text: string] | undefined
  let current: [name: string, family: ParsedFamily] | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`)
    }
    const [, comment, name = '', rest = ''] =
      /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line) ?? []
    if (comment === 'HELP') {
      if (help !== undefined) fail('two HELP lines')
      help = [name, rest]
    } else if (comment === 'TYPE') {
      if (help?.[0] !== name) return fail('TYPE without HELP')
      if (families.has(name)) fail('a duplicate family')
      if (!['counter', 'gauge', 'histogram'].includes(rest)) fail('unknown type')
      const family: ParsedFamily = { type: rest, help: help[1], samples: [] }
      families.set(name, family)
      current = [name, family]
      help = undefined
    } else {
      if (current === undefined || help !== undefined) return fail('a sample without TYPE')
      const sample = parseSample(line, fail)
      const isOwn =
        current[1].type === 'histogram'
          ? ['_bucket', '_sum', '_count'].some((end) => sample.name === current?.[0] + end)
          : sample.name === current[0]
      if (!isOwn) fail('a sample of another family')
      const key = `${sample.name}${JSON.stringify(Object.entries(sample.labels).toSorted())}`
      if (seen.has(key)) fail('the same sample twice')
      seen.add(key)
      current[1].samples.push(sample)
    }
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkBuckets(name, family)
  return families
}

function parseSample(line: string, fail: (why: string) => never): Sample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)$/.exec(line)
  if (match === null) return fail('not a sample')
  const [, name = '', labelText = '', value = ''] = match
  if (!valueFormat.test(value)) fail('not a value')
  const labels: Record<string, string> = {}
  labelFormat.lastIndex = 0
  while (labelFormat.lastIndex < labelText.length) {
    const found = labelFormat.exec(labelText)
    if (found === null) return fail('not labels')
    const [, label = '', escaped = ''] = found
    if (Object.hasOwn(labels, label)) fail('the same label twice')
    labels[label] = escaped.replaceAll(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
  }
  const number = value.endsWith('Inf')
    ? value.startsWith('-')
      ? -Infinity
      : Infinity
    : Number(value)
  return { name, labels, value: number }
}

/** Buckets are ascending, and the last one is infinite and equals the count. */
function checkBuckets(name: string, { samples }: ParsedFamily): void {
  const series = new Map<string, Sample[]>()
  for (const sample of samples) {
    const { le: _, ...rest } = sample.labels
    const key = JSON.stringify(rest)
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const own of series.values()) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`)
    const count = own.find((sample) => sample.name === `${name}_count`)
    const bounds = buckets.map(({ labels }) =>
      labels['le'] === '+Inf' ? Infinity : Number(labels['le']),
    )
    const isAscending = bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] ?? 0))
    const isGrowing = buckets.every(
      ({ value }, i) => i === 0 || value >= (buckets[i - 1]?.value ?? 0),
    )
    if (!isAscending || !isGrowing || bounds.at(-1) !== Infinity)
      throw new Error(`${name}: buckets`)
    if (buckets.at(-1)?.value !== count?.value) throw new Error(`${name}: count`)
    if (own.length !== buckets.length + 2) throw new Error(`${name}: sum and count`)
  }
}
