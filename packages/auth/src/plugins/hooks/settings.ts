import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  hideAll,
  hideCredentials,
  list,
  type readSettings,
  string,
} from '@portcullis/service-kit/settings/env'
import { withOldNames } from '../../config/variables.ts'
import { SettingError } from '../../errors.ts'
import type { HookDefinition } from './hook.ts'
import { type HookName, hookDefinitions, hookNames } from './index.ts'
import { type HookTarget, type HookTargetRules, parseHookUri } from './uri.ts'

type HookChapter = ReturnType<typeof toChapter>

function toChapter({ variable, purpose }: HookDefinition<never, unknown>) {
  return {
    title: `Hook ${variable}`,
    variables: withOldNames({
      enabled: boolean(`AUTH_HOOK_${variable}_ENABLED`, false, `Whether a hook ${purpose}`),
      uri: string(
        `AUTH_HOOK_${variable}_URI`,
        '',
        'Endpoint of the hook: https://…, or pg-functions://postgres/<schema>/<function>',
        { mask: hideCredentials },
      ),
      secrets: string(
        `AUTH_HOOK_${variable}_SECRETS`,
        '',
        'Secrets that sign requests: v1,whsec_<base64>; separate several with |',
        { mask: hideAll },
      ),
    }),
  } satisfies Chapter
}

const hookChapters = Object.fromEntries(
  hookNames.map((name) => [name, toChapter(hookDefinitions[name])]),
) as Readonly<Record<HookName, HookChapter>>

export const hooks = {
  hooks: {
    title: 'Hooks',
    variables: withOldNames({
      internalHosts: list(
        'AUTH_HOOK_ALLOWED_HOSTS',
        [],
        'Hosts on the internal network at which hooks may be called',
        { defaultText: 'localhost and host.docker.internal' },
      ),
    }),
  },
  ...hookChapters,
}

export interface HookConfig {
  readonly target: HookTarget
  /** Base64, without the prefix `v1,whsec_`. */
  readonly secrets: readonly string[]
}

/** The hooks by name; undefined when disabled. */
export type HooksConfig = Readonly<Record<HookName, HookConfig | undefined>>

type HookSettings = ReturnType<typeof readSettings<typeof hooks>>['settings']

export function toHooks(settings: HookSettings, databaseUrl: string, check: Check): HooksConfig {
  const rules: HookTargetRules = {
    internalHosts: settings.hooks.internalHosts,
    database: URL.parse(databaseUrl)?.pathname.slice(1) || undefined,
  }
  return Object.fromEntries(
    hookNames.map((name) => [name, toHook(name, settings[name], rules, check)]),
  ) as HooksConfig
}

function toHook(
  name: HookName,
  { enabled, uri, secrets }: HookSettings[HookName],
  rules: HookTargetRules,
  check: Check,
): HookConfig | undefined {
  if (!enabled) return undefined
  const { variables } = hookChapters[name]
  if (uri === '') {
    check.fault(variables.uri, `is required when ${check.nameOf(variables.enabled)} is true`)
    return undefined
  }
  const keys = secrets.split('|').filter((secret) => secret.trim() !== '')
  const parsed = keys.map((secret) => parseSecret(secret))
  if (parsed.includes(undefined)) {
    check.fault(variables.secrets, 'must be v1,whsec_<base64>; separate several with |')
  }
  try {
    const target = parseHookUri(uri, rules)
    if (target.kind === 'http' && keys.length === 0) {
      const setting = check.nameOf(variables.secrets)
      check.note(`${setting} is not set, so requests of this hook are not signed`)
    }
    return { target, secrets: parsed.filter((secret) => secret !== undefined) }
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    check.fault(variables.uri, error.message)
    return undefined
  }
}

function parseSecret(text: string): string | undefined {
  const [, base64 = ''] = /^v1,whsec_([a-z\d+/]+={0,2})$/i.exec(text.trim()) ?? []
  const isWhole = base64 !== '' && base64.replace(/=+$/, '').length % 4 !== 1
  return isWhole ? base64 : undefined
}
