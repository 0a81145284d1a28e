import { file } from './file/plugin.ts'
import type { RuleSource, RuleSourcePlugin, SourcePluginParts } from './source.ts'
import { xds } from './xds/plugin.ts'

/** Every source of rules. */
export const ruleSources = [file, xds] as const satisfies readonly RuleSourcePlugin[]

export const defaultSource = file

export type RuleSourceConfig = ReturnType<(typeof ruleSources)[number]['toConfig']>

/** @throws Error when a setting is invalid or a certificate cannot be read */
export async function openRuleSource(
  config: RuleSourceConfig,
  parts: SourcePluginParts,
): Promise<RuleSource> {
  const plugins: readonly RuleSourcePlugin[] = ruleSources
  const plugin = plugins.find(({ kind }) => kind === config.kind)
  if (plugin === undefined) throw new TypeError(`There is no rule source '${config.kind}'.`)
  return await plugin.open(config, parts)
}
