import type { Environment } from '@portcullis/service-kit/settings/env'

export const compatModes = ['auto', 'specification', 'upstream'] as const
export type CompatMode = (typeof compatModes)[number]

/** The mode in use. */
export interface CompatChoice {
  readonly compatMode: CompatMode
  /** Completes the sentence "The mode is upstream, because …". */
  readonly compatReason: string
}

/**
 * Without AUTH_COMPAT_MODE, the names of the variables decide: a configuration with `GOTRUE_` names
 * was written for Supabase Auth, whose clients do not all send the version header.
 * @param configured undefined if AUTH_COMPAT_MODE is not set.
 */
export function chooseCompatMode(
  configured: { readonly mode: CompatMode; readonly name: string } | undefined,
  sources: readonly Environment[],
): CompatChoice {
  if (configured !== undefined) {
    return { compatMode: configured.mode, compatReason: `${configured.name} is set` }
  }
  const old = sources.map(findOldName).find((name) => name !== undefined)
  return old === undefined
    ? { compatMode: 'auto', compatReason: 'the configuration has no GOTRUE_ variables' }
    : {
        compatMode: 'upstream',
        compatReason: `the configuration has GOTRUE_ variables, such as ${old}`,
      }
}

/** Empty values are ignored, because compose files pass variables without a value as empty ones. */
function findOldName(source: Environment): string | undefined {
  const names = Object.keys(source).filter((name) => (source[name] ?? '').trim() !== '')
  return names.sort().find((name) => name.startsWith('GOTRUE_'))
}

const meanings: Readonly<Record<CompatMode, string>> = {
  auto: "requests with the header X-Supabase-Api-Version get the behaviour of Supabase Auth, others that of this server's own API",
  specification: "all requests get the behaviour of this server's own API",
  upstream: 'all requests get the behaviour of Supabase Auth',
}

/** For the line that reports the start. */
export function toCompatNote({ compatMode, compatReason }: CompatChoice): string {
  return `compatibility mode ${compatMode} (${compatReason})`
}

/** One line for `config check`. */
export function explainCompatMode({ compatMode, compatReason }: CompatChoice): string {
  const meaning = meanings[compatMode]
  return `The compatibility mode is ${compatMode}, because ${compatReason}: ${meaning} (AUTH_COMPAT_MODE)`
}
