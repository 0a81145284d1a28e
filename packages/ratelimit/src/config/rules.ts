import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  type SettingsByChapter,
} from '@portcullis/service-kit/settings/env'
import { defaultSource, type RuleSourceConfig, ruleSources } from '../rules/sources/index.ts'
import { mergeChapters } from './plugin-chapters.ts'

const configTypes = ruleSources.map(({ configType }) => configType)

const rules = {
  title: 'Rules',
  variables: {
    source: choice(
      'CONFIG_TYPE',
      configTypes,
      defaultSource.configType,
      `Where rules come from: ${ruleSources.map(({ place }) => place).join(', or ')}`,
      {
        refuse: (text) =>
          `Invalid setting for ConfigType: ${text}. It must be one of: ${configTypes.join(', ')}`,
      },
    ),
    merges: boolean(
      'MERGE_DOMAIN_CONFIG',
      false,
      'Whether several files may contain rules for the same domain',
    ),
  },
} satisfies Chapter

/** The variable that selects a source, and the variables of each source. */
export const rulesChapters = { rules, ...mergeChapters(ruleSources) }

export interface RulesConfig {
  readonly source: RuleSourceConfig
  readonly mergesDomains: boolean
}

export function toRules(
  settings: SettingsByChapter<typeof rulesChapters>,
  check: Check,
): RulesConfig {
  const { source, merges } = settings.rules
  const chosen = ruleSources.find(({ configType }) => configType === source) ?? defaultSource
  return { source: chosen.toConfig(settings, check), mergesDomains: merges }
}
