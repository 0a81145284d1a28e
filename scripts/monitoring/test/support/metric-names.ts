const keywords = new Set([
  ...['by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'bool', 'offset'],
  ...['and', 'or', 'unless', 'inf', 'nan'],
])

/** The metrics that a PromQL expression reads. A name that is given as a pattern is returned as `/pattern/`. */
export function findMetricNames(expression: string): string[] {
  const patterns = [...expression.matchAll(/__name__=~"([^"]*)"/g)].map(([, text]) => `/${text}/`)
  const plain = expression
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    // The labels of a grouping are not metrics.
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
    .replaceAll(/"[^"]*"/g, '')
  const words = plain.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?!\s*\()(?![\w:])/g)
  const names = [...words].map(([name]) => name).filter((name) => !keywords.has(name.toLowerCase()))
  return [...new Set([...names, ...patterns])]
}

/** Series that Prometheus itself writes. */
const prometheusNames = new Set(['up', 'ALERTS'])

/** The metrics of an expression that are in none of these sets. */
export function findUnknownNames(
  expression: string,
  known: readonly ReadonlySet<string>[],
): string[] {
  return findMetricNames(expression).filter((name) => {
    if (prometheusNames.has(name)) return false
    const pattern = /^\/(.*)\/$/.exec(name)?.[1]
    if (pattern === undefined) return !known.some((names) => names.has(name))
    const expected = new RegExp(`^(?:${pattern})$`)
    return !known.some((names) => [...names].some((each) => expected.test(each)))
  })
}
