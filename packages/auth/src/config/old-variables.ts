import type { CollectedCheck } from '@portcullis/service-kit/config-check'
import type { Chapters, Environment } from '@portcullis/service-kit/env'

/** Taken over from the server before, without a meaning: accepted, with a notice (D33). */
const inherited: Readonly<Record<string, string>> = {
  OPERATOR_TOKEN: 'belongs to the multi-instance mode, which is not supported',
  API_ENDPOINT: 'belongs to the multi-instance mode, which is not supported',
  MULTI_INSTANCE_MODE: 'is not supported: run one server for each instance',
}

const toSpellings = (name: string) => [`AUTH_${name}`, `GOTRUE_${name}`, name]

export const inheritedNames: readonly string[] = Object.keys(inherited).flatMap(toSpellings)

/** A deprecation notice for each that is set. */
export function toDeprecations(...sources: readonly Environment[]): string[] {
  return Object.entries(inherited).flatMap(([name, why]) =>
    toSpellings(name)
      .filter((spelling) => sources.some((source) => source[spelling]))
      .map((spelling) => `${spelling} is deprecated and has no effect: it ${why}`),
  )
}

/** OpenTelemetry reads these by itself. */
const ofTheStandard = /^GOTRUE_OTEL_EXPORTER_OTLP_/
/** Whoever switches something off that is not there has what they want. */
const off = /^\s*(?:0|f|false)?\s*$/i

/**
 * Notes variables of the server before that this one does not have: whoever brings a configuration
 * along would believe that they still do something. One that was noted already is not noted again.
 */
export function noteWithoutEffect(
  chapters: Chapters,
  sources: readonly Environment[],
  check: CollectedCheck,
): void {
  const variables = Object.values(chapters).flatMap((chapter) => Object.values(chapter.variables))
  const known = new Set(variables.flatMap(({ name, aliases }) => [name, ...aliases]))
  const set = sources
    .flatMap((source) => Object.entries(source))
    .filter(([name, value]) => name.startsWith('GOTRUE_') && !off.test(value ?? ''))
    .map(([name]) => name)
  for (const name of new Set(set)) {
    const isNoted = check.notes.some((note) => note.startsWith(`${name} `))
    if (known.has(name) || isNoted || ofTheStandard.test(name)) continue
    check.note(`${name} has no effect: this server has no such variable`)
  }
}
