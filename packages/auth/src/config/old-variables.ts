import type { CollectedCheck } from '@portcullis/service-kit/config-check'
import type { Chapters, Environment } from '@portcullis/service-kit/env'

/**
 * Variables of GoTrue that this server does not support. They are accepted, with a deprecation
 * notice, so that a server with an existing configuration still starts.
 */
const inherited: Readonly<Record<string, string>> = {
  OPERATOR_TOKEN: 'belongs to the multi-instance mode, which is not supported',
  API_ENDPOINT: 'belongs to the multi-instance mode, which is not supported',
  MULTI_INSTANCE_MODE: 'is not supported: run one server for each instance',
}

const toSpellings = (name: string) => [`AUTH_${name}`, `GOTRUE_${name}`, name]

export const inheritedNames: readonly string[] = Object.keys(inherited).flatMap(toSpellings)

/** Returns a deprecation notice for each that is set. */
export function toDeprecations(...sources: readonly Environment[]): string[] {
  return Object.entries(inherited).flatMap(([name, why]) =>
    toSpellings(name)
      .filter((spelling) => sources.some((source) => source[spelling]))
      .map((spelling) => `${spelling} is deprecated and has no effect: it ${why}`),
  )
}

/** The OpenTelemetry SDK reads these variables. */
const ofTheStandard = /^GOTRUE_OTEL_EXPORTER_OTLP_/
/** Disabling a feature that does not exist is not worth a note. */
const off = /^\s*(?:0|f|false)?\s*$/i

/**
 * Notes GoTrue variables that this server does not have, because an operator who reuses a
 * configuration would expect them to have an effect. Variables that were noted already are skipped.
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
