export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly samples: readonly Sample[]
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const labelPart = /^([a-zA-Z_]\w*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/
const types = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped'])
/** The name suffixes that samples of a type may have. */
const suffixes: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
}

/** Parses the Prometheus text format 0.0.4 and throws on any violation. */
export function parsePage(page: string): ReadonlyMap<string, Family> {
  if (!page.endsWith('\n')) throw new Error('the last line is not terminated')
  const families = new Map<string, { name: string; type: string; samples: Sample[] }>()
  let current: { name: string; type: string; samples: Sample[] } | undefined
  const seen = new Set<string>()
  for (const line of page.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) ?(.*)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`${name} comes twice`)
      current = { name, type: '', samples: [] }
      families.set(name, current)
    } else if (kind === 'TYPE') {
      if (name !== current?.name || !types.has(rest)) throw new Error(line)
      current.type = rest
    } else if (kind !== 'UNIT') {
      const sample = parseSample(line)
      const names = (suffixes[current?.type ?? ''] ?? ['']).map((end) => `${current?.name}${end}`)
      if (!names.includes(sample.name))
        throw new Error(`${line} does not belong to ${current?.name}`)
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`
      if (seen.has(key)) throw new Error(`${line} comes twice`)
      seen.add(key)
      current?.samples.push(sample)
    }
  }
  return families
}

function parseSample(line: string): Sample {
  const [, name, text = '', value] = sampleLine.exec(line) ?? []
  if (name === undefined) throw new Error(`not a sample: ${line}`)
  const labels: Record<string, string> = {}
  for (let left = text; left !== ''; ) {
    const [part = '', label = '', content = ''] = labelPart.exec(left) ?? []
    if (part === '' || label in labels) throw new Error(`invalid labels: ${line}`)
    labels[label] = content
    left = left.slice(part.length)
  }
  const number = value === '+Inf' ? Infinity : Number(value)
  if (Number.isNaN(number)) throw new Error(`no number: ${line}`)
  return { name, labels, value: number }
}
